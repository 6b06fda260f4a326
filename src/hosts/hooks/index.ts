import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import type { HookFormat } from "./format.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";

export { clineScript } from "./cline.ts";
export {
  type FoundHook,
  type HookProgram,
  type HookScript,
  hookCommandLine,
  readHookCommandLine,
  WRITTEN_BY,
} from "./command-line.ts";
export { type CommandCall, type HookAnswer, type HookFormat, type HostObject, UnknownEvent } from "./format.ts";
export { opencodePlugin } from "./opencode.ts";

/** The hosts that have hooks for the commands of their agents. */
export const HOOK_FORMATS: readonly HookFormat[] = [claudeCode, codex, gemini, qwen, opencode, copilot, cursor, cline];

/** Returns the format of a host. Null when the host has no hooks. */
export function hookFormatOf(host: string): HookFormat | null {
  return HOOK_FORMATS.find(({ name }) => name === host) ?? null;
}
