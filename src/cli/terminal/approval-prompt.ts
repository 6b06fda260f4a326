/** The approval prompt of `sallyport run` and `sallyport attach` on a terminal. */
import { createInterface } from "node:readline/promises";
import { approvalText } from "../../approval/render.ts";
import type { Approval, ApprovalDecision } from "../../core/approval.ts";
import { parseDuration } from "../../text/format.ts";
import type { Io } from "../command.ts";
import { waitingNote } from "../notes.ts";
import { localUser } from "../person.ts";

type Ask = (question: string) => Promise<string>;

/**
 * Prints the complete request and asks for a decision. Returns null when the user postpones the decision (`l` or end of
 * input), interrupts the command, or the request is decided elsewhere (`signal`).
 */
async function promptForApproval(approval: Approval, io: Io, signal: AbortSignal): Promise<ApprovalDecision | null> {
  io.err(approvalText(approval, { color: io.color, columns: io.columns, nowMs: Date.now() }));
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  // In raw mode Ctrl-C does not send a signal, so send it here.
  let interrupted = false;
  lines.once("SIGINT", () => {
    interrupted = true;
    lines.close();
    process.kill(process.pid, "SIGINT");
  });
  const until = AbortSignal.any([gone.signal, signal]);
  let answer: Answer | null = null;
  try {
    answer = await promptForDecision(approval, (question) => lines.question(question, { signal: until }), io);
  } catch (error) {
    if (!until.aborted) throw error;
    if (gone.signal.aborted && !interrupted) io.err("\n");
  } finally {
    lines.close();
  }
  if (answer) return { ...answer, ...localUser(), channel: "terminal" };
  if (!interrupted && !signal.aborted) io.err(`${waitingNote(approval)}\n`);
  return null;
}

type Answer = Pick<ApprovalDecision, "decision" | "reason" | "grant">;

async function promptForDecision({ request }: Approval, ask: Ask, io: Io): Promise<Answer | null> {
  const choices = request.always.ok ? "o once, a always, d deny, l later" : "o once, d deny, l later";
  for (;;) {
    const answer = (await ask(`Approve? (${choices}) `)).trim();
    if (answer === "o") return { decision: "once" };
    if (answer === "l") return null;
    if (answer === "d") {
      const reason = (await ask("Reason to give to the agent (optional): ")).trim();
      return { decision: "deny", ...(reason ? { reason } : {}) };
    }
    if (answer === "a" && request.always.ok) {
      const term = (await ask("For how long? (30m, 8h, 7d; empty for no limit) ")).trim();
      const expiresMs = term === "" ? undefined : (parseDuration(term) ?? 0);
      if (expiresMs !== 0) return { decision: "always", grant: expiresMs ? { expiresMs } : {} };
      io.err("Not a duration. Enter a value such as 30m, 8h or 7d.\n");
    } else {
      io.err("Enter one of the letters.\n");
    }
  }
}

/**
 * What the terminal is used for: it is attached to a session, which then receives all input, or it shows the pending
 * requests.
 */
type TerminalUse = "free" | "attached" | "reviewing";
let use: TerminalUse = "free";

export function setTerminalUse(now: TerminalUse): void {
  use = now;
}

/** Reports whether a person, and not an agent host, reads this terminal (invariant 7). */
async function isAttendedByPerson(): Promise<boolean> {
  return (await import("../../approval/attendance.ts")).isAttended();
}

/** Asks on this terminal or, while it is attached to a session, prints how to decide. */
export async function promptUnlessAttached(
  approval: Approval,
  io: Io,
  signal: AbortSignal,
): Promise<ApprovalDecision | null> {
  if (use === "reviewing") return null; // The list shows the request.
  const attended = await isAttendedByPerson();
  if (use === "free" && attended) return promptForApproval(approval, io, signal);
  const end = use === "attached" ? "\r\n" : "\n";
  const here = use === "attached" && attended ? "Press C-p C-r to decide here." : "";
  const note = here === "" ? waitingNote(approval) : `${waitingNote(approval)} ${here}`;
  io.err(`${use === "attached" ? end : ""}${note.replaceAll("\n", end)}${end}`);
  return null;
}
