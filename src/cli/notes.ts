import type { Approval } from "../core/approval.ts";
import { worded } from "../core/next-step.ts";
import type { LogChunk, SessionInfo } from "../core/session.ts";
import { failureText } from "../text/error-text.ts";
import { formatDuration } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Io } from "./command.ts";
import { CLI_WORDING } from "./next-steps.ts";

/** Prints to stderr what the output and the exit code of a command do not show, such as a timeout. */
export function reportOutcome(info: SessionInfo, io: Io): void {
  for (const note of outcomeNotes(info)) io.err(`${note}\n`);
  if (info.error?.type === "CommandNotFound" && info.args?.length === 0 && /\s/.test(info.command)) {
    io.err("  To run shell text, use `sallyport run -c TEXT`.\n");
  }
}

/** Warnings about this machine rather than about the command. */
const MACHINE = /on this machine|cgroup is available|portable executor/;

function outcomeNotes(info: SessionInfo): string[] {
  const notes = info.warnings.map((warning) => `sallyport: warning: ${visible(warning)}`);
  if (info.warnings.some((warning) => MACHINE.test(warning))) notes.push("  See `sallyport doctor`.");
  if (info.timedOut) notes.push(`sallyport: timed out after ${formatDuration(info.timeoutMs)}`);
  if (info.leftover > 0 && !info.background) notes.push(`sallyport: stopped ${leftovers(info.leftover)}`);
  for (const { hint } of worded(info.hints, CLI_WORDING)) notes.push(`sallyport: ${visible(hint)}`);
  if (info.error) notes.push(failureText(info.error, CLI_WORDING));
  else if (info.status === "lost")
    notes.push(
      "sallyport: the result of the command is unknown because its keeper was killed or the machine went down",
    );
  return notes;
}

/**
 * Returns the note about a command that is waiting for approval. A model may read it, so it contains nothing with which
 * a command could approve the request (invariant 7).
 */
export function waitingNote({ expiresAt, request: { reasons } }: Approval): string {
  const [reason] = reasons;
  const why = reason ? ` ${reason.message.replace(/\.$/, "")} (${reason.rule}).` : "";
  return `sallyport: this command requires a person's approval.${visible(why)}
  It waits for the decision until ${expiresAt}. A person can decide in another terminal with \`sallyport approvals\`, or in the console.`;
}

/** Returns the note about input that policy rejected. */
export function typingRefused(message: string): string {
  return `sallyport: input rejected: ${visible(message)}`;
}

export function detachedNote({ name }: Pick<SessionInfo, "name">): string {
  return `sallyport: detached; the session is still running. To attach again: sallyport attach ${name}`;
}

function leftovers(count: number): string {
  return count === 1 ? "1 process the command left running" : `${count} processes the command left running`;
}

/** Returns the note at the position in a log where bytes were dropped. */
export function droppedNote({ dropped, stream }: LogChunk): string {
  return `sallyport: ${dropped} bytes of ${stream} were dropped here (see \`--disk-cap\`)`;
}

/** Returns the note after a live stream from which bytes were dropped. */
export function missingNote(bytes: number): string {
  return `sallyport: ${bytes} bytes of output were dropped because the reader was too slow and the log reached its disk cap
  Use \`--disk-cap 0\` to keep all output.`;
}
