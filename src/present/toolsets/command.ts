import { COMMAND_BYTES, LISTED_COMMAND_BYTES } from "../caps.ts";
import { commandLine } from "../command-line.ts";
import { truncateMiddle } from "../truncate.ts";

/** In a list or a status: one visible line. */
export function listedCommand(command: string, args: readonly string[] | null): string {
  return truncateMiddle(commandLine(command, args), { maxBytes: LISTED_COMMAND_BYTES }).text.replaceAll("\n", " ");
}

/** As it was given, unless it is very long. */
export function repeatedCommand(command: string): string {
  return truncateMiddle(command, { maxBytes: COMMAND_BYTES }).text;
}
