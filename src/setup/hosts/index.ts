import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { cursor } from "./cursor.ts";
import { gemini } from "./gemini.ts";
import { goose } from "./goose.ts";
import type { Host } from "./host.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";
import { vscode } from "./vscode.ts";
import { windsurf } from "./windsurf.ts";
import { zed } from "./zed.ts";

/** The hosts that `sallyport setup` knows. */
export const HOSTS: readonly Host[] = [
  claudeCode,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  cline,
  continueCli,
  vscode,
  cursor,
  windsurf,
  zed,
  goose,
];

export const HOST_NAMES: readonly string[] = HOSTS.map(({ name }) => name);

export function findHost(name: string): Host | null {
  return HOSTS.find((host) => host.name === name) ?? null;
}
