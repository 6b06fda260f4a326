import { quoteArgv, quoteWord } from "../../shell/quote.ts";
import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import type { HookFormat } from "./format.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";

export { type CommandCall, type HookAnswer, type HookFormat, type HostObject, UnknownEvent } from "./format.ts";
export { opencodePlugin } from "./opencode.ts";

/** The hosts that have hooks for the commands of their agents. */
export const HOOK_FORMATS: readonly HookFormat[] = [claudeCode, codex, gemini, qwen, opencode, copilot, cursor, cline];

/**
 * Returns the command line for the configuration of a host. If the hook program is missing or was killed, the shell
 * denies in its place: most hosts take such a failure for consent. `argv` is the program with its arguments.
 */
export function hookCommandLine({ failure }: HookFormat, argv: readonly string[]): string {
  const said = [
    ...(failure.stdout ? [`printf '%s\\n' ${quoteWord(failure.stdout.trim())}`] : []),
    ...(failure.stderr ? [`echo ${quoteWord(failure.stderr.trim())} >&2`] : []),
  ];
  // The hook has given its reason when it exits with the code for a refusal.
  const otherwise =
    failure.code === 0 ? said.join("; ") : `[ $? -eq ${failure.code} ] || ${said.join("; ")}; exit ${failure.code}`;
  return `${quoteArgv(argv)} || { ${otherwise}; }`;
}
