import { join } from "node:path";
import type { Capture as Mode, StreamInfo } from "../../core/session.ts";
import { Sink } from "./stream-file.ts";
import { Timeline } from "./timeline.ts";

/** From what arrives to the session's files: one stream each for stdout and stderr, or one for both. */
export class Capture {
  readonly streams: readonly Sink[];
  readonly #log: Sink | null;
  readonly #timeline: Timeline;
  readonly #startedMs: number;

  /** `log`: the open plain log a caller asked for. */
  constructor(folder: string, mode: Mode, diskCap: number, log: number | null, startUnixMs: number) {
    const names = mode === "merged" ? ["output"] : ["stdout", "stderr"];
    this.streams = names.map((name) => new Sink(join(folder, name), diskCap));
    this.#log = log === null ? null : new Sink(log, diskCap);
    this.#timeline = new Timeline(join(folder, "timeline"), startUnixMs);
    this.#startedMs = performance.now();
  }

  get bytes(): number[] {
    return this.streams.map(({ size }) => size);
  }

  store(stream: number, bytes: Uint8Array): void {
    const sink = this.streams[stream] as Sink;
    const sinceStartMs = performance.now() - this.#startedMs;
    const before = this.bytes;
    const kept = sink.append(bytes);
    this.#timeline.grew(stream, kept, before, sinceStartMs);
    this.#timeline.lost(stream, bytes.length - kept, this.bytes, sinceStartMs);
    if (sink.growHole()) {
      this.#timeline.publish(this.streams);
      if (!sink.drop()) this.#timeline.publish(this.streams);
    }
    this.#log?.append(bytes);
    if (this.#log?.growHole()) this.#log.drop();
  }

  flush(): void {
    this.#timeline.flush(this.streams);
  }

  /** What the exit record says of the streams. All of the timeline is in its file then. */
  settle(): StreamInfo[] {
    this.flush();
    if (this.streams.some(({ lost }) => lost > 0)) this.#timeline.publish(this.streams);
    return this.streams.map(({ size, holeStart, holeEnd, lost }) => {
      const holed = holeEnd > holeStart;
      return { bytes: size, droppedStart: holed ? holeStart : 0, droppedEnd: holed ? holeEnd : 0, lost };
    });
  }

  close(): void {
    for (const stream of this.streams) stream.close();
    this.#log?.close();
    this.#timeline.close();
  }
}
