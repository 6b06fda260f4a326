/**
 * Parses JSON, and rejects texts that programs read differently: an object with the same key twice, of which a filter
 * in front of this one may have seen the other value, and the key `__proto__`, which changes objects that are copied
 * carelessly. Throws a SyntaxError.
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  assertPlainKeys(text);
  return value;
}

/** A string, or a character that opens or closes an object or a list. The text is known to be valid JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
const KEY_END = /\s*:/y;

/** Checks the keys of all objects. `open` has the keys seen in each open object, and null for each open list. */
function assertPlainKeys(text: string): void {
  const open: (Set<string> | null)[] = [];
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
    const [token] = found;
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else {
      const keys = open.at(-1);
      KEY_END.lastIndex = TOKEN.lastIndex;
      if (keys && KEY_END.test(text)) addKey(keys, token);
    }
  }
}

function addKey(keys: Set<string>, token: string): void {
  const key = token.includes("\\") ? (JSON.parse(token) as string) : token.slice(1, -1);
  if (key === "__proto__" || keys.has(key)) throw new SyntaxError(`duplicate or reserved key ${token.slice(0, 64)}`);
  keys.add(key);
}
