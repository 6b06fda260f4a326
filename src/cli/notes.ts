import type { Approval } from "../core/approval.ts";
import type { LogChunk, SessionInfo } from "../core/session.ts";
import { failureText } from "../text/error-text.ts";
import { formatDuration } from "../text/format.ts";
import { visible } from "../text/visible.ts";
import type { Io } from "./command.ts";

/** Says on stderr what the exit code of a command does not, if there is anything to say. */
export function reportOutcome(info: SessionInfo, io: Io): void {
  for (const note of outcomeNotes(info)) io.err(`${note}\n`);
  if (info.error?.type === "CommandNotFound" && info.args?.length === 0 && /\s/.test(info.command)) {
    io.err("  To run shell text: sallyport run -c 'TEXT'\n");
  }
}

/** What a person should know about how a command ended that its output and exit code do not say. */
function outcomeNotes(info: SessionInfo): string[] {
  const notes = info.warnings.map((warning) => `sallyport: warning: ${visible(warning)}`);
  if (info.timedOut) notes.push(`sallyport: timed out after ${formatDuration(info.timeoutMs)}`);
  if (info.leftover > 0 && !info.background) notes.push(`sallyport: ended ${leftovers(info.leftover)}`);
  for (const hint of info.hints) notes.push(`sallyport: ${visible(hint)}`);
  if (info.error) notes.push(failureText(info.error));
  else if (info.status === "lost") notes.push("sallyport: the command was lost: its keeper was killed");
  return notes;
}

/** While a command waits for a person's word. */
export function waitingNote({ id, expiresAt }: Approval): string {
  return `sallyport: a person has to approve this first, until ${expiresAt}
  Approve it in another terminal: sallyport approve ${id}
  Or refuse it: sallyport deny ${id}`;
}

/** What a person typed into a session was not let through; the rest of it goes on. */
export function typingRefused(message: string): string {
  return `sallyport: not typed: ${visible(message)}`;
}

/** The person left; the session did not. */
export function detachedNote({ name }: Pick<SessionInfo, "name">): string {
  return `sallyport: detached; it runs on. Come back with: sallyport attach ${name}`;
}

function leftovers(count: number): string {
  return count === 1 ? "1 process the command left running" : `${count} processes the command left running`;
}

/** For the place in a log where something is missing. */
export function droppedNote({ dropped, stream }: LogChunk): string {
  return `sallyport: ${dropped} bytes of ${stream} are missing here (see \`--disk-cap\`)`;
}

/** For the end of a live stream that had gaps. */
export function missingNote(bytes: number): string {
  return `sallyport: ${bytes} bytes of the output are missing: it was not read as fast as it came, and the disk cap was reached
  Use \`--disk-cap 0\` to keep everything.`;
}
