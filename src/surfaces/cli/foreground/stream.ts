import type { GatewayHandle, SessionHandle } from "../../../contract/gateway.ts";
import type { RunRequest } from "../../../contract/request.ts";
import { droppedNote } from "../../../present/session-notes.ts";
import type { Io } from "../command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { report } from "../report.ts";
import { tellOutcome } from "../tell-outcome.ts";
import { SignalForwarder } from "./signals.ts";
import { feed } from "./stdin.ts";

/** Runs a command as if it had been typed into the shell: live output, our stdin if wanted, its exit code. */
export async function runStreamed(gateway: GatewayHandle, request: RunRequest, io: Io): Promise<number> {
  const signals = new SignalForwarder(request.graceMs, io);
  let stopFeeding = () => {};
  try {
    const session = await gateway.start(request, { foreground: true });
    signals.to(session);
    if (request.stdin === "open") {
      stopFeeding = feed(io.stdin, session, (error) => report(error, io, { json: false }));
    }
    await streamOutput(session, request.graceMs, io);
    const info = await session.wait();
    tellOutcome(info, io);
    return exitCodeOf(info);
  } finally {
    stopFeeding();
    signals.stop();
  }
}

async function streamOutput(session: SessionHandle, graceMs: number | undefined, io: Io): Promise<void> {
  try {
    for await (const chunk of session.follow()) {
      if (chunk.dropped > 0) io.err(`${droppedNote(chunk)}\n`);
      if (chunk.stream === "stderr") io.err(chunk.bytes);
      else io.out(chunk.bytes);
      await io.drained();
    }
  } catch (error) {
    // Nobody reads it any more (`| head`): end it, as a pipe of its own would have.
    await session.kill({ graceMs }).catch(() => {});
    throw error;
  }
}
