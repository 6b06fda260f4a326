import { open } from "../../../api/client.ts";

/** A recorded terminal session (asciicast). */
export interface Recording {
  size: { columns: number; rows: number };
  events: { at: number; data: string; resize: { columns: number; rows: number } | null }[];
  /** The duration in seconds, with pauses shortened. */
  duration: number;
  /** Whether the end is missing because the recording is too long. */
  cut: boolean;
}

const MOST_CHARACTERS = 24 << 20;
/** Longer pauses are shortened to this many seconds. */
const LONGEST_PAUSE = 2;

export async function loadRecording(id: string, signal: AbortSignal): Promise<Recording> {
  const { body } = await open(`/v1/sessions/${encodeURIComponent(id)}/recording`, signal);
  const recording: Recording = { size: { columns: 80, rows: 24 }, events: [], duration: 0, cut: false };
  let read = 0;
  let skipped = 0;
  for await (const line of lines(body ?? new ReadableStream())) {
    read += line.length;
    if (read > MOST_CHARACTERS) {
      recording.cut = true;
      break;
    }
    skipped = take(recording, line, skipped);
  }
  return recording;
}

/** Adds one line. Returns the total of pauses removed so far, in seconds. */
function take(recording: Recording, line: string, skipped: number): number {
  const parsed: unknown = JSON.parse(line);
  if (!Array.isArray(parsed)) {
    const { width, height } = parsed as { width: number; height: number };
    recording.size = { columns: width, rows: height };
    return skipped;
  }
  const [time, kind, data] = parsed as [number, string, string];
  const pause = time - skipped - recording.duration;
  const left = skipped + Math.max(0, pause - LONGEST_PAUSE);
  const at = Math.max(recording.duration, time - left);
  const [columns = 0, rows = 0] = kind === "r" ? data.split("x").map(Number) : [];
  recording.events.push({ at, data: kind === "o" ? data : "", resize: kind === "r" ? { columns, rows } : null });
  recording.duration = at;
  return left;
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const parts = (rest + (value ?? "")).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) if (part !== "") yield part;
      if (done) break;
    }
    if (rest !== "") yield rest;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
