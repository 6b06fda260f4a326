import { SallyportError } from "../core/error.ts";
import { silent, type Ties } from "./client.ts";
import { type Frame, FrameReader } from "./frames.ts";

/** So many bytes may be on their way before what was read is told. */
export const CREDIT_BYTES = 1 << 20;
const TELL_EVERY_BYTES = 256 * 1024;
/** A worker drops a flow that nobody has asked to go on for a while. */
const STILL_THERE_MS = 10_000;
const MOST_TRIES = 3;

interface Asked {
  id: string;
  /** Null: about every agent's sessions. */
  agent: string | null;
  args: unknown;
  /** Bytes of one answer at most; left out: as much as any may have. */
  longest?: number;
  /** Who is not there now is not waited for. */
  now?: boolean;
}

/**
 * What a worker answers an operation with, value by value or chunk by chunk, as fast as it is read (promise 6). Ends
 * when the worker says so; throws HostSilent when it has gone or was started anew, and when some of it was lost on its
 * way, or may have been since the line to the servers was down.
 */
export async function* flow(
  ties: Ties,
  host: string,
  operation: string,
  { id, agent, args, longest, now }: Asked,
  signal?: AbortSignal,
): AsyncGenerator<Exclude<Frame, { kind: "end" | "error" | "gap" }>, void, undefined> {
  const reader = new FrameReader(longest);
  const queue: { frame: Frame; bytes: number }[] = [];
  let wake = () => {};
  let failed: Error | null = null;
  const fail = (error: Error) => {
    failed ??= error;
    wake();
  };
  const tell = (what: "credit" | "cancel", bytes?: number) =>
    ties.tell(host, agent, what, { id, args: { bytes }, flow: name, to: ties.address });
  const { name, close } = ties.openFlow((message) => {
    if (message === null) return fail(silent(host));
    try {
      const frame = reader.read(message);
      // A part waits for no reader: the rest of its value must come first.
      if (frame) queue.push({ frame, bytes: message.length });
      else tell("credit", message.length);
    } catch (error) {
      fail(error as Error);
    }
    wake();
  });
  let boot: string | null = null;
  const unwatch = ties.hosts.watch(host, (worker) => {
    if (worker === null || (boot !== null && worker.boot !== boot)) fail(silent(host));
    else boot ??= worker.boot;
  });
  const stillThere = setInterval(() => tell("credit", 0), STILL_THERE_MS).unref();
  const abort = () => wake();
  signal?.addEventListener("abort", abort, { once: true });
  let over = false;
  let read = 0;
  try {
    void ties.ask(host, operation, { id, agent, args, flow: name, now }).catch(fail);
    for (;;) {
      if (signal?.aborted) return;
      const next = queue.shift();
      if (next === undefined) {
        if (failed) throw failed;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { frame, bytes } = next;
      over = frame.kind === "end" || frame.kind === "error";
      if (frame.kind === "end") return;
      if (frame.kind === "gap") throw silent(host);
      if (frame.kind === "error") throw asError(frame.error);
      yield frame;
      read += bytes;
      if (read >= TELL_EVERY_BYTES) {
        tell("credit", read);
        read = 0;
      }
    }
  } finally {
    clearInterval(stillThere);
    signal?.removeEventListener("abort", abort);
    unwatch();
    close();
    if (!over && !failed) tell("cancel");
  }
}

/** The one value an operation answers with. It changes nothing, so one whose answer was lost is asked for again. */
export async function answerOf(
  ties: Ties,
  host: string,
  operation: string,
  asked: Asked,
  signal?: AbortSignal,
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    try {
      for await (const frame of flow(ties, host, operation, asked, signal)) {
        if (frame.kind === "value") return frame.value;
      }
      signal?.throwIfAborted();
      throw silent(host);
    } catch (error) {
      const unheard = error instanceof SallyportError && error.type === "HostSilent";
      const again = unheard && !asked.now && !signal?.aborted && tries < MOST_TRIES;
      if (!again || !(await ties.hosts.look(host).catch(() => null))) throw error;
    }
  }
}

function asError(given: unknown): SallyportError {
  const { type, message, recovery } = given as { type: string; message: string; recovery: [] };
  return new SallyportError(
    String(type) as SallyportError["type"],
    String(message),
    Array.isArray(recovery) ? recovery : [],
  );
}
