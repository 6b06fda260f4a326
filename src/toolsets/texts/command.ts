import { COMMAND_BYTES, LISTED_COMMAND_BYTES } from "../../core/output-limits.ts";
import { commandLine } from "../../text/command-line.ts";
import { truncateMiddle } from "../../text/truncate.ts";

/** In a list or a status: one visible line. */
export function listedCommand(command: string, args: readonly string[] | null): string {
  return truncateMiddle(commandLine(command, args), { maxBytes: LISTED_COMMAND_BYTES }).text.replaceAll("\n", " ");
}

/** As it was given, unless it is very long. */
export function repeatedCommand(command: string): string {
  return truncateMiddle(command, { maxBytes: COMMAND_BYTES }).text;
}
