/** The output of sessions in results: cursors of returning readers, and the output of foreground commands. */

import type { RunResult } from "../core/result.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type Ends, type OutputSource, type Page, readEnds, readLastLines, readPage } from "../session/logs/reader.ts";
import type { Session } from "../session/session.ts";
import { binaryKind } from "../text/binary.ts";
import { counted } from "../text/format.ts";
import { summary } from "../text/model-output.ts";
import { regularExpression } from "../text/regex.ts";
import { terminalText } from "../text/terminal/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";
import type { HandlerCall, HandlerResult } from "./define.ts";

/** The maximum number of cursors. Older ones are dropped; their sessions are read from the beginning again. */
const MAX_CURSORS = 10_000;

/** Positions in bytes by gateway, then by reader and session. */
const cursors = new WeakMap<Gateway, Map<string, number>>();

/** The last read of each cursor, so that calls at the same time do not return the same output twice. */
const reads = new WeakMap<Gateway, Map<string, Promise<unknown>>>();

interface Reader {
  /** The name of the cursor, so that toolsets that read the same session do not consume each other's output. */
  reader: string;
  id: string;
}

function entriesOf<T>(maps: WeakMap<Gateway, Map<string, T>>, root: Gateway): Map<string, T> {
  const own = maps.get(root) ?? new Map<string, T>();
  maps.set(root, own);
  return own;
}

/** Returns the position up to which a reader has read a session. */
export function cursorOf({ root }: Pick<HandlerCall, "root">, { reader, id }: Reader): number {
  return entriesOf(cursors, root).get(`${reader} ${id}`) ?? 0;
}

function moveCursor(root: Gateway, { reader, id }: Reader, position: number): void {
  const own = entriesOf(cursors, root);
  const key = `${reader} ${id}`;
  own.delete(key);
  own.set(key, position);
  const [oldest] = own.keys();
  if (own.size > MAX_CURSORS && oldest !== undefined) own.delete(oldest);
}

/**
 * Waits until a session ends or, with a filter, has a matching line after `readTo`. Does not wait longer than the caller
 * waits for the result.
 */
export async function waitForSession(
  { context: { signal, answerWithinMs = Number.POSITIVE_INFINITY } }: HandlerCall,
  session: Session,
  { seconds, filter, readTo }: { seconds: number; filter?: string | undefined; readTo?: number },
): Promise<void> {
  if (seconds === 0) return;
  await session.waitFor({
    ...(filter === undefined ? {} : { pattern: completeLine(filter) }),
    ...(readTo === undefined ? {} : { readTo }),
    timeoutMs: Math.min(seconds * 1000, answerWithinMs),
    ...(signal ? { signal } : {}),
  });
}

/** A filter applies to complete lines, so a line that is not complete must not end the wait. */
function completeLine(filter: string): RegExp {
  regularExpression(filter, "filter");
  return regularExpression(`(?:${filter})[^\\n]*\\n`, "filter", "m");
}

interface UnreadQuery extends Reader {
  maxBytes: number;
  filter?: string | undefined;
}

/**
 * Returns the answer that `answer` builds from the output since the reader's cursor. The cursor moves only after that,
 * to the end of the page or to where `answer` says, and not at all if the call fails or is cancelled.
 */
export async function answerUnread(
  { root, context }: HandlerCall,
  source: OutputSource,
  { maxBytes, filter, ...reader }: UnreadQuery,
  answer: (page: Page) => Promise<HandlerResult & { next?: number }>,
): Promise<HandlerResult> {
  const running = entriesOf(reads, root);
  const key = `${reader.reader} ${reader.id}`;
  const before = running.get(key);
  const read = async () => {
    await before?.catch(() => {});
    const page = await readPage(source, { offset: cursorOf({ root }, reader), maxBytes, filter });
    const { next = page.next, ...result } = await answer(page);
    if (!context.signal?.aborted) moveCursor(root, reader, next);
    return result;
  };
  const reading = read();
  running.set(key, reading);
  try {
    return await reading;
  } finally {
    if (running.get(key) === reading) running.delete(key);
  }
}

interface ResultQuery {
  stream?: "stdout" | "stderr";
  maxBytes: number;
  /** How to read what is left out; follows "read them with". */
  hint: string;
}

/** The size of binary data in a result. It is of little use to a model. */
const BINARY_BYTES = 8 << 10;

/**
 * Returns the output of a command as a model sees it, at most `maxBytes` long (invariant 6). Invalid UTF-8 is replaced.
 * The log is read only if the output is too long for the result.
 */
export async function resultOutput(gateway: Gateway, result: RunResult, query: ResultQuery): Promise<Ends> {
  const { stream, maxBytes, hint } = query;
  const { output, isWhole } = streamOf(result, stream);
  const isRunning = result.status === "running";
  if (isWhole && !isRunning && output === "") return { text: "", omittedBytes: 0 };
  const binary = binaryKind(output);
  const most = binary ? Math.min(maxBytes, BINARY_BYTES) : maxBytes;
  if (isWhole && !isRunning) {
    const text = terminalText(output);
    if (Buffer.byteLength(text) <= most) return { text, omittedBytes: 0 };
  }
  const session = gateway.session(result.id);
  const source = session.ownOutput();
  const selected = stream === undefined ? {} : { stream };
  if (isRunning) {
    const page = await readPage(source, { ...selected, offset: 0, maxBytes: most });
    const more = page.unread > 0 ? `[… ${counted(page.unread, "byte")} more; read them with ${hint}]\n` : "";
    return { text: page.text + more, omittedBytes: page.unread + page.droppedBytes };
  }
  // The last screen of a full-screen program is not in the log as such.
  if (isWhole && session.info().pty !== null) return truncateMiddle(terminalText(output), { maxBytes: most, hint });
  const of = binary ? `binary data${binary.name === null ? "" : ` (${binary.name})`}` : undefined;
  return readEnds(source, { ...selected, maxBytes: most, hint, of });
}

/** Returns the last lines of a stream, at most `maxBytes` long. */
export async function resultLastLines(
  gateway: Gateway,
  result: RunResult,
  { lines, ...query }: ResultQuery & { lines: number },
): Promise<string> {
  const { output, isWhole } = streamOf(result, query.stream);
  if (lines <= 0 || (isWhole && output === "")) return "";
  if (isWhole && result.status !== "running") return summary(output, lines, query);
  return readLastLines(gateway.session(result.id).ownOutput(), { ...query, lines });
}

function streamOf(result: RunResult, stream: "stdout" | "stderr" | undefined): { output: string; isWhole: boolean } {
  const { output, stdout, stderr, truncated } = result;
  if (stream === undefined) return { output, isWhole: truncated.stdout + truncated.stderr === 0 };
  return { output: stream === "stdout" ? stdout : stderr, isWhole: truncated[stream] === 0 };
}
