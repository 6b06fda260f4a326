import type { RunRequest } from "../../core/request.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import type { Io } from "../command.ts";
import { afterwards } from "../terminal/afterwards.ts";
import { converse } from "../terminal/attach-session.ts";
import { SignalForwarder } from "./signals.ts";

/** Runs a command on a terminal of its own that is joined with ours, until it ends or is left with C-p C-q. */
export async function runOnTerminal(gateway: Gateway, request: RunRequest, io: Io): Promise<number> {
  const signals = new SignalForwarder(request.graceMs, io);
  try {
    const session = await gateway.start(request, { foreground: true, signal: signals.beforeStart });
    signals.to(session);
    const how = await converse(session, io, { readOnly: false, offset: 0, opening: "" });
    return await afterwards(session, how, io);
  } catch (error) {
    if (signals.beforeStart.aborted) return signals.exitCode;
    throw error;
  } finally {
    signals.stop();
  }
}
