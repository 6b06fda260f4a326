import { SallyportError } from "../../core/error.ts";
import { alreadyExited } from "../../session/errors.ts";
import type { Session } from "../../session/session.ts";
import { signalName, signalNumber } from "../../session/signals.ts";
import { ENDS } from "../annotations.ts";
import { type Answer, tool } from "../define.ts";
import { DEFAULT_FORCE_AFTER, KillInput, KillResult } from "./schema.ts";
import { stateOf } from "./text.ts";

/** A signal that nothing follows takes effect when the process gets to it: so long it is given to be seen. */
const SETTLE_MS = 1000;

export const processKill = tool({
  name: "process.kill",
  title: "End a process",
  description: `Send a signal to a process and all it started. SIGTERM (default) is followed by SIGKILL after force_after seconds (default ${DEFAULT_FORCE_AFTER}; 0: never). killed is false if it had exited before the signal arrived, or still runs.`,
  input: KillInput,
  output: KillResult,
  annotations: ENDS,
  operation: "kill",
  permission: "notify",
  async handle({ process_id, signal, force_after: seconds }, { gateway }) {
    const session = await gateway.find(process_id);
    const name = signalName(signalNumber(signal)) ?? signal;
    if (hasEnded(session)) return exitedBefore(session);
    const graceMs = name === "SIGTERM" && seconds > 0 ? seconds * 1000 : null;
    const sent = await send(session, name, graceMs);
    const info = await session.wait({ timeoutMs: SETTLE_MS });
    // What ended it in the end: a SIGTERM that was not heeded was followed.
    const last = info.signal === "SIGKILL" ? "SIGKILL" : name;
    const killed = sent && info.status !== "running";
    return { structured: { killed, signal_sent: last, process_id: info.id, state: stateOf(info.status) } };
  },
});

function hasEnded(session: Session): boolean {
  const { status, lingering } = session.info();
  return status !== "running" && !lingering;
}

/** False: it exited before the signal arrived. */
async function send(session: Session, signal: string, graceMs: number | null): Promise<boolean> {
  try {
    await session.kill({ signal, graceMs });
    return true;
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error;
    if (error.type === "AlreadyExited") return false;
    if (error.type === "KeeperUnavailable") throw new SallyportError("KillFailed", error.message, error.recovery);
    throw error;
  }
}

function exitedBefore(session: Session): Answer {
  const { id, status } = session.info();
  return {
    structured: { killed: false, process_id: id, state: stateOf(status) ?? "completed" },
    failure: alreadyExited(session.name).toJSON(),
  };
}
