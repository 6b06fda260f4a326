import type { SessionHandle } from "../../../core/gateway.ts";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import type { Io } from "../../command.ts";
import { EXIT_FAILED, exitCodeOf } from "../../exit-code.ts";
import { SignalForwarder } from "../../foreground/signals.ts";
import { feed } from "../../foreground/stdin.ts";
import { missingNote } from "../../notes.ts";
import { report } from "../../report-error.ts";
import { tellOutcome } from "../../report-outcome.ts";

/** Runs a command as if it had been typed into the shell: live output, our stdin if wanted, its exit code. */
export async function runStreamed(gateway: Gateway, request: RunRequest, io: Io): Promise<number> {
  const signals = new SignalForwarder(request.graceMs, io);
  let stopFeeding = () => {};
  try {
    const session = await gateway.start(request, { foreground: true, signal: signals.beforeStart });
    signals.to(session);
    if (request.stdin === "open") {
      stopFeeding = feed(io.stdin, session, (error) => report(error, io, { json: false }));
    }
    const missing = await streamOutput(session, request.graceMs, io);
    const info = await session.wait();
    tellOutcome(info, io);
    const code = exitCodeOf(info);
    if (missing === 0) return code;
    io.err(`${missingNote(missing)}\n`);
    // A person sees the note; a program that is fed with holes in it must not take it for the whole.
    return io.isTTY.stdout ? code : code || EXIT_FAILED;
  } catch (error) {
    if (signals.beforeStart.aborted) return signals.exitCode;
    throw error;
  } finally {
    stopFeeding();
    signals.stop();
  }
}

/** Passes on what the command writes, and says how many bytes it could not. */
async function streamOutput(session: SessionHandle, graceMs: number | undefined, io: Io): Promise<number> {
  let missing = 0;
  try {
    for await (const chunk of session.follow()) {
      missing += chunk.dropped;
      if (chunk.stream === "stderr") io.err(chunk.bytes);
      else io.out(chunk.bytes);
      await io.drained();
    }
  } catch (error) {
    // Nobody reads it any more (`| head`): end it, as a pipe of its own would have.
    await session.kill({ graceMs }).catch(() => {});
    throw error;
  }
  return missing;
}
