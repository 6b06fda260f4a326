import { styleText } from "node:util";
import type { LogChunk, LogQuery } from "../../../core/session.ts";
import { parseDuration } from "../../../text/format.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { droppedNote } from "../../notes.ts";
import { withGateway } from "../../open.ts";
import { choiceOption, countOption, textOption } from "../../options.ts";
import { type OutputWriter, outputWriter } from "../../terminal/output.ts";
import { whileRead } from "../../terminal/output-reader.ts";
import { onlySession } from "./session-arguments.ts";

export const logs: Command = {
  name: "logs",
  summary: "Print the output of a session",
  usage: "sallyport logs [OPTIONS] SESSION",
  description: `
    Prints the captured stdout of the command to stdout and its stderr to stderr. With --stream or --times, prints
    everything to stdout. On a terminal, stderr is shown in red, and escape sequences and control characters are shown
    instead of interpreted, except for colors. Files and pipes get the output byte for byte.`,
  options: {
    follow: { type: "boolean", short: "f" },
    tail: { type: "string", short: "n" },
    times: { type: "boolean", short: "t" },
    since: { type: "string" },
    stream: { type: "string" },
    lines: { type: "string" },
    offset: { type: "string" },
    limit: { type: "string" },
    raw: { type: "boolean" },
  },
  help: {
    follow: "Follow the output until the session ends",
    tail: "N: Print only the last N lines",
    times: "Print the time and the stream before each line",
    since: "WHEN: Print only output since a timestamp (2026-11-15T03:00:00Z) or a relative time (5m for 5 minutes ago)",
    stream: "NAME: Stream to print: stdout, stderr, or merged for both in the order they were written",
    lines: "A:B: Print lines A to B, counted from 1 (10:20, 10:, :20, -20:)",
    offset: "N: Start at this byte of the stream",
    limit: "N: Print at most N bytes",
    raw: "Print escape sequences and control characters unchanged on a terminal",
    json: "Print one JSON object per chunk: {stream, offset, time, text|base64, dropped}",
  },
  choices: { stream: ["stdout", "stderr", "merged"] },
  examples: [
    ["Print the output of a session", "sallyport logs web"],
    ["Print the last 20 lines and follow new output", "sallyport logs -f --tail 20 web"],
    ["Follow the output with timestamps", "sallyport logs -ft web"],
    ["Print stderr from the last ten minutes", "sallyport logs --stream stderr --since 10m web"],
    ["Print a range of lines", "sallyport logs --lines 100:120 web"],
  ],
  run: (invocation) => {
    const { values, io } = invocation;
    const reference = onlySession(invocation);
    const query = logQuery(values, Date.now());
    if (values.json && values.times)
      throw new UsageError("`--times` cannot be used with `--json`, which always includes times");
    if (values.follow && (query.limit !== undefined || query.toLine !== undefined)) {
      throw new UsageError("`--follow` cannot be used with `--limit` or with a last line in `--lines`");
    }
    return withGateway(invocation, async (gateway) => {
      const session = await gateway.find(reference);
      const way = values.json ? "json" : values.times ? "times" : query.stream ? "together" : "apart";
      const writer = outputWriter(io, values.raw ? "raw" : "visible");
      const write = logWriter(way, writer, io);
      const print = async (chunks: AsyncIterable<LogChunk>) => {
        for await (const chunk of chunks) {
          write(chunk);
          await io.drained();
        }
      };
      if (values.follow) await whileRead((signal) => print(session.follow({ ...query, signal })));
      else await print(session.read(query));
      writer.end();
      return 0;
    });
  },
};

type Values = Invocation["values"];

/** Converts the options of `logs` to a query. */
function logQuery(values: Values, nowMs: number): LogQuery {
  const query: LogQuery = { ...lineRange(values), ...since(values, nowMs) };
  const stream = choiceOption(values, "stream", ["stdout", "stderr", "merged"] as const);
  const tail = countOption(values, "tail");
  const offset = countOption(values, "offset");
  const limit = countOption(values, "limit");
  const ways = [tail !== undefined, query.fromLine !== undefined, (offset ?? limit) !== undefined];
  if (ways.filter(Boolean).length > 1) {
    throw new UsageError("use only one of `--tail`, `--lines` and `--offset`/`--limit`");
  }
  return {
    ...query,
    ...(stream ? { stream } : {}),
    ...(tail === undefined ? {} : { tail }),
    ...(offset === undefined ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** Parses `A:B`, `A:` or `:B`, counted from 1 and inclusive, or `-N:` for the last N lines. */
function lineRange(values: Values): Pick<LogQuery, "fromLine" | "toLine"> {
  const text = textOption(values, "lines");
  if (text === undefined) return {};
  const [, last, first, to] = /^(?:(-[1-9]\d*):|([1-9]\d*)?:([1-9]\d*)?)$/.exec(text) ?? [];
  const from = last ?? first;
  if (from === undefined && to === undefined) {
    throw new UsageError(`\`--lines\` must be a range such as 10:20, 10:, :20 or -20:; received \`${text}\``);
  }
  return { fromLine: Number(from ?? 1), ...(to === undefined ? {} : { toLine: Number(to) }) };
}

function since(values: Values, nowMs: number): Pick<LogQuery, "sinceMs"> {
  const text = textOption(values, "since");
  if (text === undefined) return {};
  const ago = parseDuration(text);
  const sinceMs = ago === null ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(sinceMs)) {
    throw new UsageError(
      `\`--since\` must be a duration such as 5m, or a time such as 2026-11-15T03:00:00Z; received \`${text}\``,
    );
  }
  return { sinceMs };
}

type Write = (chunk: LogChunk) => void;

/** Returns the function that prints chunks: to separate streams, all to stdout, with times, or as JSON. */
function logWriter(way: "apart" | "together" | "times" | "json", writer: OutputWriter, io: Io): Write {
  switch (way) {
    case "apart":
      return (chunk) => writeApart(chunk, writer, io);
    case "together":
      return (chunk) => writeTogether(chunk, writer, io);
    case "times":
      return timedWriter(writer, io);
    case "json":
      return (chunk) => writeJson(chunk, io);
  }
}

const LINE_FEED = 10;
const RED = Buffer.from("\x1b[31m");
const UNCOLORED = Buffer.from("\x1b[39m");

function writeApart(chunk: LogChunk, writer: OutputWriter, io: Io): void {
  noteGap(chunk, io);
  if (chunk.stream !== "stderr") writer.out(chunk.bytes);
  else if (io.color && io.isTTY.stderr) writer.err(Buffer.concat([RED, chunk.bytes, UNCOLORED]));
  else writer.err(chunk.bytes);
}

function writeTogether(chunk: LogChunk, writer: OutputWriter, io: Io): void {
  noteGap(chunk, io);
  writer.out(chunk.bytes);
}

/**
 * Returns the function that prints chunks with times. It ends an incomplete line of one stream before it prints the
 * other stream.
 */
function timedWriter(writer: OutputWriter, io: Io): Write {
  const style: Style = (how, text) => (io.color ? styleText(how, text, { validateStream: false }) : text);
  let unfinished: LogChunk["stream"] | null = null;
  return (chunk) => {
    if (unfinished !== null && (unfinished !== chunk.stream || chunk.dropped > 0)) {
      io.out("\n");
      unfinished = null;
    }
    noteGap(chunk, io);
    for (let at = 0; at < chunk.bytes.length; ) {
      const end = chunk.bytes.indexOf(LINE_FEED, at) + 1 || chunk.bytes.length;
      if (unfinished === null) io.out(timePrefix(chunk, { style, local: io.isTTY.stdout }));
      writer.out(chunk.bytes.subarray(at, end));
      unfinished = chunk.bytes[end - 1] === LINE_FEED ? null : chunk.stream;
      at = end;
    }
  };
}

type Style = (how: "dim" | "red", text: string) => string;

/** Returns the time of a line, local on a terminal and in ISO format otherwise, and its stream. */
function timePrefix(
  { timeMs, stream }: Pick<LogChunk, "timeMs" | "stream">,
  { style, local }: { style: Style; local: boolean },
): string {
  const time = timeMs === null ? "-" : local ? timeOfDay(new Date(timeMs)) : new Date(timeMs).toISOString();
  const mark = stream === "stderr" ? style("red", "err") : style("dim", "out");
  return `${style("dim", time)} ${mark} `;
}

function timeOfDay(date: Date): string {
  const two = (count: number) => String(count).padStart(2, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${clock}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

function noteGap(chunk: LogChunk, io: Io): void {
  if (chunk.dropped > 0) io.err(`${droppedNote(chunk)}\n`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function writeJson({ stream, offset, bytes, timeMs, dropped }: LogChunk, io: Io): void {
  const time = timeMs === null ? null : new Date(timeMs).toISOString();
  io.out(`${JSON.stringify({ stream, offset, time, ...content(bytes), dropped })}\n`);
}

/** Returns the bytes as text if they are valid UTF-8, otherwise as base64. */
function content(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}
