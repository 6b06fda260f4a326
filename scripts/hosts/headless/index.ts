import { claudeCode } from "./claude-code.ts";
import { cline } from "./cline.ts";
import { codex } from "./codex.ts";
import { continueCli } from "./continue.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import type { Headless } from "./headless.ts";
import { opencode } from "./opencode.ts";
import { qwen } from "./qwen.ts";

/** The hosts that can be installed from npm and run without a person. */
export const HEADLESS: readonly Headless[] = [claudeCode, codex, gemini, qwen, opencode, copilot, cline, continueCli];
