/** Of one message, over either transport. A request may bring 8 MiB of stdin, and JSON makes them longer. */
export const MESSAGE_MOST = 16 << 20;

/** What was wrong with something that is no message. */
export interface Fault {
  /** As JSON-RPC numbers them. */
  code: -32700 | -32600;
  message: string;
  id: string | number | null;
}

export function badMessage({ code, message, id }: Fault) {
  const head = code === -32700 ? "Parse error" : "Invalid Request";
  return { jsonrpc: "2.0", id, error: { code, message: `${head}: ${message}` } } as const;
}
