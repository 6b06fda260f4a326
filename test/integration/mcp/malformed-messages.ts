import { randomText } from "../../fixtures/seeded.ts";

type Next = (limit: number) => number;

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "fuzz", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
};
const SESSION = "sallyport://session/01a1dd77-d239-7468-9041-a8abe6260b4f";

/** Valid messages. Their commands are harmless and are never modified; only the rest of a message is. */
const SENSIBLE: { method: string; params?: object }[] = [
  { method: "tools/call", params: { name: "Bash", arguments: { command: "true", description: "x" } } },
  {
    method: "tools/call",
    params: { name: "Bash", arguments: { command: "true", description: "x" }, _meta: { progressToken: 1 } },
  },
  { method: "tools/call", params: { name: "BashOutput", arguments: { shell_id: "none" } } },
  { method: "tools/list" },
  { method: "ping" },
  { method: "resources/list", params: { cursor: "50" } },
  { method: "resources/read", params: { uri: SESSION } },
  { method: "resources/subscribe", params: { uri: `${SESSION}/output` } },
  { method: "resources/templates/list" },
  { method: "server/discover", params: { _meta: ENVELOPE } },
  { method: "subscriptions/listen", params: { _meta: ENVELOPE, notifications: { toolsListChanged: true } } },
  { method: "tools/list", params: { _meta: ENVELOPE } },
  {
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: { elicitation: {} },
      clientInfo: { name: "f", version: "1" },
    },
  },
  { method: "notifications/initialized" },
  { method: "notifications/cancelled", params: { requestId: "fuzz-1" } },
  {
    method: "completion/complete",
    params: { ref: { type: "ref/prompt", name: "x" }, argument: { name: "a", value: "b" } },
  },
];

const STRANGE: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  2 ** 53,
  "",
  "\ud800",
  "\u0000",
  "\u202e",
  "__proto__",
  "constructor",
  "x".repeat(70_000),
  [],
  {},
  [[[[[[[]]]]]]],
  { __proto__: null, toString: 1 },
  Array.from({ length: 2000 }, () => 0),
  "true",
  ["true"],
  { jsonrpc: "2.0", id: 1, method: "tools/list" },
];

const BYTES = ['"', "{", "}", "[", "]", ":", ",", "\\", "\\u", "\ufffd", "0", "-", "e", " ", "\u0001", "null", "//"];

/** Returns a valid or an invalid line. */
export function malformedLine(next: Next, id: string): Buffer {
  const chosen = SENSIBLE[next(SENSIBLE.length)] ?? { method: "ping" };
  const isNotification = chosen.method.startsWith("notifications/");
  const message = structuredClone({ jsonrpc: "2.0", ...(isNotification ? {} : { id }), ...chosen }) as object;
  switch (next(8)) {
    case 0:
      return Buffer.from(JSON.stringify(message));
    case 1:
    case 2:
      return Buffer.from(JSON.stringify(replaced(message, next)));
    case 3:
      return Buffer.from(JSON.stringify([message, replaced(message, next)]));
    case 4:
      return cut(Buffer.from(JSON.stringify(message)), next);
    case 5:
      return Buffer.from(randomText(next, BYTES, 1 + next(60)));
    case 6:
      return Buffer.from(Array.from({ length: 1 + next(200) }, () => next(256)).filter((byte) => byte !== 0x0a));
    default:
      return Buffer.from(
        JSON.stringify({ jsonrpc: "2.0", id: STRANGE[next(STRANGE.length)], result: STRANGE[next(STRANGE.length)] }),
      );
  }
}

/** Truncates the text, or inserts random text. */
function cut(line: Buffer, next: Next): Buffer {
  const at = next(line.length);
  const strange = Buffer.from(BYTES[next(BYTES.length)] ?? "");
  return next(2) === 0 ? line.subarray(0, at) : Buffer.concat([line.subarray(0, at), strange, line.subarray(at)]);
}

/** Replaces a value at any depth. Commands are not replaced, because the result might be harmful. */
function replaced(message: object, next: Next): object {
  const places: { holder: Record<string, unknown>; key: string }[] = [];
  const visit = (holder: Record<string, unknown>) => {
    for (const key of Object.keys(holder)) {
      if (key !== "command") places.push({ holder, key });
      const value = holder[key];
      if (typeof value === "object" && value !== null) visit(value as Record<string, unknown>);
    }
  };
  visit(message as Record<string, unknown>);
  const place = places[next(places.length)];
  if (place && next(4) === 0) delete place.holder[place.key];
  else if (place) place.holder[place.key] = STRANGE[next(STRANGE.length)];
  return message;
}
