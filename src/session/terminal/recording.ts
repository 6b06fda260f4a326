import { StringDecoder } from "node:string_decoder";
import type { SizeChange } from "../../executor/session-data.ts";
import { type Pace, yieldAfter } from "../logs/log-file.ts";
import { closeSessionLog, openSessionLog, readStream, streamSize } from "../logs/session-log.ts";
import { type Span, spansFrom } from "../logs/view.ts";

/** The data in the first line of a recording. */
interface RecordingHead {
  startedMs: number;
  command: string;
  title: string;
}

/** The maximum size of an event. Adjacent output with the same time is joined up to this size. */
const MOST_BYTES = 64 * 1024;
const CANCEL = "\x18";

/**
 * Yields the session's terminal output as an asciicast (version 2): a line of JSON for the header, and one for each
 * piece of output or resize, with the seconds since the start. Input is included only where the program echoed it.
 */
export async function* asciicast(
  folder: string,
  sizes: readonly [SizeChange, ...SizeChange[]],
  { startedMs, command, title }: RecordingHead,
): AsyncGenerator<string, void, undefined> {
  const [first, ...changes] = sizes;
  yield line({
    version: 2,
    width: first.columns,
    height: first.rows,
    timestamp: Math.floor(startedMs / 1000),
    command,
    title,
    env: { TERM: "xterm-256color" },
  });
  const log = openSessionLog(folder, "merged");
  const pace: Pace = { bytes: 0 };
  // A character that is split over two pieces is written with the second.
  const decoder = new StringDecoder("utf8");
  const end = streamSize(log, 0);
  let seconds = 0;
  let read = 0;
  try {
    for (const span of pieces(sameMoment(spansFrom(log, 0, 0)), changes)) {
      if (span.offset >= end) break;
      if (span.timeMs !== null) seconds = Math.max(seconds, (span.timeMs - startedMs) / 1000);
      while (changes[0] && changes[0].offset <= span.offset) {
        const { columns, rows } = changes.shift() as SizeChange;
        yield line([seconds, "r", `${columns}x${rows}`]);
      }
      const bytes = readStream(log, 0, span.offset, Math.min(span.length, end - span.offset));
      // After a hole caused by the disk cap, an incomplete sequence is cancelled.
      const gap = span.offset > read ? CANCEL : "";
      read = span.offset + bytes.length;
      const text = gap + decoder.write(bytes);
      if (text !== "") yield line([seconds, "o", text]);
      await yieldAfter(pace, bytes.length);
    }
    const rest = decoder.end();
    if (rest !== "") yield line([seconds, "o", rest]);
    for (const { columns, rows } of changes) yield line([seconds, "r", `${columns}x${rows}`]);
  } finally {
    closeSessionLog(log);
  }
}

type Piece = Pick<Span, "offset" | "length" | "timeMs">;

function* sameMoment(spans: Iterable<Span>): Generator<Piece> {
  let open: Piece | null = null;
  for (const { offset, length, timeMs } of spans) {
    if (open && open.timeMs === timeMs && open.offset + open.length === offset && open.length + length <= MOST_BYTES) {
      open.length += length;
      continue;
    }
    if (open) yield open;
    open = { offset, length, timeMs };
  }
  if (open) yield open;
}

/** Splits spans where the size changed, and at the maximum length. */
function* pieces(spans: Iterable<Piece>, changes: readonly SizeChange[]): Generator<Piece> {
  for (const span of spans) {
    const end = span.offset + span.length;
    for (let offset = span.offset; offset < end; ) {
      const change = changes.find((each) => each.offset > offset)?.offset ?? end;
      const length = Math.min(end, change, offset + MOST_BYTES) - offset;
      yield { offset, length, timeMs: span.timeMs };
      offset += length;
    }
  }
}

function line(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}
