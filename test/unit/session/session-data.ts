import type { FollowQuery, LogSlice } from "../../../src/core/gateway.ts";
import type { Capture, LogChunk, LogQuery } from "../../../src/core/session.ts";
import type { SessionData } from "../../../src/executor/session-data.ts";
import { LocalSessionReader } from "../../../src/session/session-folder.ts";

const reader = new LocalSessionReader();

/** Opens the data of a session whose files a test wrote to `folder`. */
export function dataIn(folder: string, capture: Capture): SessionData {
  return reader.open({ id: folder, capture }, folder, () => null);
}

export function readLog(
  folder: string,
  capture: Capture,
  query: LogQuery,
  { live }: { live: boolean },
): Promise<LogSlice> {
  return dataIn(folder, capture).logs(query, live);
}

export function streamLog(folder: string, capture: Capture, query: LogQuery, { live }: { live: boolean }) {
  return dataIn(folder, capture).read(query, live);
}

/** Returns the output of an ended session from where the query starts. */
export function followEnded(folder: string, capture: Capture, query: FollowQuery) {
  return dataIn(folder, capture).follow(query, null, undefined);
}

/** Collects all chunks, like `Array.fromAsync`, which the type library of the build target lacks. */
export async function allChunks(source: AsyncIterable<LogChunk>): Promise<LogChunk[]> {
  const chunks: LogChunk[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return chunks;
}
