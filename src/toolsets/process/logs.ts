import type { SessionInfo } from "../../core/session.ts";
import { characterStart, type OutputSource, readPage } from "../../session/logs/reader.ts";
import { MODEL_BYTES } from "../../text/output-limits.ts";
import { READ_ANNOTATIONS, tool } from "../define.ts";
import { waitForSession } from "../output.ts";
import { isUnstarted } from "../run.ts";
import { LogsInput, LogsResult } from "./schema.ts";
import { invalidStream, logsText, stateOf, unstartedFailure } from "./text.ts";

const NOTHING: Part = { text: "", size: 0, consumed: 0, complete: true };

export const processLogs = tool({
  name: "process.logs",
  title: "Read process output",
  description:
    "Return the output of a running or finished process, up to 64 KiB per call. offset and limit count bytes of each stream; characters are never split, and without limit, lines are not either. Escape sequences are removed. To read more, or to follow a running process, call again with offset + stdout_consumed (or stderr_consumed) as the offset. truncated is true when there is more output. With wait, the call first waits for the process to exit.",
  input: LogsInput,
  output: LogsResult,
  text: logsText,
  annotations: READ_ANNOTATIONS,
  meta: { version: "1.0", tags: ["process", "logs", "output"] },
  operation: "read",
  argumentFailures: { stream: invalidStream },
  async handle({ process_id, stream, offset, limit, wait }, call) {
    const session = await call.gateway.find(process_id);
    if (isUnstarted(session.info())) {
      return { structured: { process_id: session.id }, failure: unstartedFailure(session.info()) };
    }
    const source = await session.reading();
    await waitForSession(call, session, { seconds: wait });
    // The state is read before the output, so a state other than running means that all output has been written.
    const info = session.info();
    const room = share(info, offset, Math.min(limit ?? MODEL_BYTES, MODEL_BYTES), stream);
    const part = (name: "stdout" | "stderr") => read(source, name, { offset, limit, maxBytes: room[name] });
    const stdout = stream === "stderr" ? sizeOnly(info, "stdout") : await part("stdout");
    // With merged capture, stdout holds both streams.
    const apart = info.capture === "apart" && stream !== "stdout";
    const stderr = apart ? await part("stderr") : sizeOnly(info, "stderr");
    return {
      structured: {
        stdout: stdout.text,
        stderr: stderr.text,
        stdout_size: stdout.size,
        stderr_size: stderr.size,
        stdout_consumed: stdout.consumed,
        stderr_consumed: stderr.consumed,
        truncated: !(stdout.complete && stderr.complete),
        process_id: info.id,
        state: stateOf(info.status),
      },
    };
  },
});

interface Part {
  text: string;
  size: number;
  consumed: number;
  complete: boolean;
}

async function read(
  source: OutputSource,
  stream: "stdout" | "stderr",
  { offset, limit, maxBytes }: { offset: number; limit: number | undefined; maxBytes: number },
): Promise<Part> {
  const start = await characterStart(source, stream, offset);
  const page = await readPage(source, { stream, offset: start, maxBytes, limit });
  const { text, next, total, unread, droppedBytes } = page;
  return { text, size: total, consumed: Math.max(0, next - offset), complete: unread === 0 && droppedBytes === 0 };
}

function sizeOnly({ streams }: SessionInfo, stream: "stdout" | "stderr"): Part {
  return { ...NOTHING, size: streams[stream]?.bytes ?? 0 };
}

/**
 * Divides the size limit of a result between the two streams. Each stream can use the part that the other does not
 * need.
 */
function share(info: SessionInfo, offset: number, limit: number, stream: string): { stdout: number; stderr: number } {
  const wants = (name: "stdout" | "stderr") =>
    stream === "both" ? Math.min(limit, Math.max(0, (info.streams[name]?.bytes ?? 0) - offset)) : 0;
  const half = MODEL_BYTES / 2;
  return {
    stdout: MODEL_BYTES - Math.min(half, wants("stderr")),
    stderr: MODEL_BYTES - Math.min(half, wants("stdout")),
  };
}
