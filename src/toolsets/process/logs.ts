import type { LogSlice } from "../../core/gateway.ts";
import { MODEL_BYTES } from "../../core/output-limits.ts";
import type { SessionInfo } from "../../core/session.ts";
import type { Session } from "../../session/session.ts";
import { READ_ANNOTATIONS, tool } from "../define.ts";
import { isUnstarted } from "../run.ts";
import { LogsInput, LogsResult } from "./schema.ts";
import { invalidStream, stateOf, unstartedFailure } from "./text.ts";

const NOTHING: Part = { text: "", size: 0, consumed: 0, complete: true };

export const processLogs = tool({
  name: "process.logs",
  title: "Read process output",
  description:
    "Return the output of a running or finished process, up to 64 KiB per call. offset and limit count bytes of each stream; characters are never split. To read more, or to follow a running process, call again with offset + stdout_consumed (or stderr_consumed) as the offset. truncated is true when there is more output.",
  input: LogsInput,
  output: LogsResult,
  annotations: READ_ANNOTATIONS,
  meta: { version: "1.0", tags: ["process", "logs", "output"] },
  operation: "read",
  argumentFailures: { stream: invalidStream },
  async handle({ process_id, stream, offset, limit }, { gateway }) {
    const session = await gateway.find(process_id);
    const info = session.info();
    if (isUnstarted(info)) {
      return { structured: { process_id: info.id }, failure: unstartedFailure(info) };
    }
    const room = share(info, offset, limit ?? MODEL_BYTES, stream);
    const stdout = stream === "stderr" ? sizeOnly(info, "stdout") : await read(session, "stdout", offset, room.stdout);
    // With merged capture, stdout holds both streams.
    const apart = info.capture === "apart" && stream !== "stdout";
    const stderr = apart ? await read(session, "stderr", offset, room.stderr) : sizeOnly(info, "stderr");
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

async function read(session: Session, stream: "stdout" | "stderr", offset: number, limit: number): Promise<Part> {
  const slice: LogSlice = await session.logs({ stream, offset, limit });
  const { text, nextOffset, totalBytes, droppedBytes } = slice;
  const complete = nextOffset >= totalBytes && droppedBytes === 0;
  return { text, size: totalBytes, consumed: Math.max(0, nextOffset - offset), complete };
}

function sizeOnly({ streams }: SessionInfo, stream: "stdout" | "stderr"): Part {
  return { ...NOTHING, size: streams[stream]?.bytes ?? 0 };
}

/**
 * Divides the size limit of a result between the two streams. Each stream can use the part that the other does not
 * need.
 */
function share(info: SessionInfo, offset: number, limit: number, stream: string): { stdout: number; stderr: number } {
  const most = Math.min(limit, MODEL_BYTES);
  const wants = (name: "stdout" | "stderr") =>
    stream === "both" ? Math.min(most, Math.max(0, (info.streams[name]?.bytes ?? 0) - offset)) : 0;
  const half = MODEL_BYTES / 2;
  return {
    stdout: Math.min(most, MODEL_BYTES - Math.min(half, wants("stderr"))),
    stderr: Math.min(most, MODEL_BYTES - Math.min(half, wants("stdout"))),
  };
}
