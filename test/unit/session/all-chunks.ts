import type { LogChunk } from "../../../src/core/session.ts";

/** `Array.fromAsync`, which the type library of our target does not know yet. */
export async function allChunks(source: AsyncIterable<LogChunk>): Promise<LogChunk[]> {
  const chunks: LogChunk[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return chunks;
}
