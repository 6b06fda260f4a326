/**
 * The commands that the resident gateway answers. A command in this list only prints, and reads no terminal, or ends in a
 * command that its `planned` describes. native/client/commands.h has the same list.
 */
export const RESIDENT_COMMANDS: readonly string[] = ["check", "hook", "run", "sh"];
