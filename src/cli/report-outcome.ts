import type { SessionInfo } from "../core/session.ts";
import type { Io } from "./command.ts";
import { outcomeNotes } from "./notes.ts";

/** Says on stderr what the exit code of a command does not, if there is anything to say. */
export function reportOutcome(info: SessionInfo, io: Io): void {
  for (const note of outcomeNotes(info)) io.err(`${note}\n`);
  if (info.error?.type === "CommandNotFound" && info.args?.length === 0 && /\s/.test(info.command)) {
    io.err("  To run shell text: sallyport run -c 'TEXT'\n");
  }
}
