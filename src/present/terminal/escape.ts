/** One escape sequence: where it ends, and what it would do to the text on a terminal. */
export interface Escape {
  end: number;
  /** The final character of a control sequence (CSI) or of a plain escape; null when it only colours, titles, asks… */
  action: string | null;
  kind: "csi" | "plain" | "string";
  /** Numbers of a control sequence; 0 where left out. */
  parameters: number[];
}

const ESCAPE = 0x1b;

// C1 characters: the 8-bit form of ESC and the character 0x40 below.
const FIRST_C1 = 0x80;
const LAST_C1 = 0x9f;

// `k` is the title of screen and tmux.
const STRING_STARTS = new Set(["P", "X", "]", "^", "_", "k"]);

/* biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are what it is about */
// The end is optional: what is cut off, or broken by another character, goes as far as it got.
const CONTROL_SEQUENCE = /([0-?]*)[ -/]*([@-~]?)/y;
const PLAIN_ESCAPE = /[ -/]*([0-~]?)/y;
// Stops at whatever may begin another sequence, so that no text is looked through twice.
const STRING_BODY = /[^\x07\x18\x1a\x1b\x80-\x9f]*/y;
const STRING_END = /\x07|\x1b\\|\x9c|[\x18\x1a]/y;
/* biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are what it is about */

/** The sequence that begins here; null when none does. */
export function escapeAt(text: string, at: number): Escape | null {
  const code = text.charCodeAt(at);
  const isC1 = code >= FIRST_C1 && code <= LAST_C1;
  if (code !== ESCAPE && !isC1) return null;
  const introducer = isC1 ? String.fromCharCode(code - 0x40) : (text[at + 1] ?? "");
  const body = isC1 ? at + 1 : at + 2;
  if (introducer === "[") return controlSequence(text, body);
  if (STRING_STARTS.has(introducer)) return { ...NOTHING, end: stringEnd(text, body, isC1) };
  if (isC1) return { ...NOTHING, kind: "plain", action: introducer, end: body };
  PLAIN_ESCAPE.lastIndex = at + 1;
  const match = PLAIN_ESCAPE.exec(text);
  const end = at + 1 + (match?.[0].length ?? 0);
  return { kind: "plain", parameters: [], end, action: match?.[0].length === 1 ? introducer : null };
}

const NOTHING: Omit<Escape, "end"> = { kind: "string", action: null, parameters: [] };
/** No sequence that moves or erases takes more. */
const LONGEST_PARAMETERS = 32;

function controlSequence(text: string, body: number): Escape {
  CONTROL_SEQUENCE.lastIndex = body;
  const [whole = "", parameters = "", final = ""] = CONTROL_SEQUENCE.exec(text) ?? [];
  const end = body + whole.length;
  const plain = whole.length === parameters.length + final.length && /^[\d;]*$/.test(parameters.slice(0, 33));
  if (final === "" || !plain || parameters.length > LONGEST_PARAMETERS) return { ...NOTHING, kind: "csi", end };
  return { kind: "csi", action: final, parameters: parameters.split(";").map(Number), end };
}

/**
 * A string that is not ended ends with its line: nobody is to hide the rest of an output that way. In 8 bits it is
 * none at all then: text that was encoded twice is full of such characters.
 */
function stringEnd(text: string, body: number, isC1: boolean): number {
  STRING_BODY.lastIndex = body;
  const end = body + (STRING_BODY.exec(text)?.[0].length ?? 0);
  STRING_END.lastIndex = end;
  const terminator = STRING_END.exec(text)?.[0];
  if (terminator !== undefined) return end + terminator.length;
  if (isC1) return body;
  const feed = text.slice(body, end).indexOf("\n");
  return feed === -1 ? end : body + feed;
}
