import { claudeCodeWrapper } from "./claude-code.ts";
import { geminiWrapper } from "./gemini.ts";
import type { HostWrapper, WrapperContext } from "./wrapper.ts";

export type { HostWrapper, WrapperContext };

/** Takes apart the text that an agent host runs. Returns null when it is not exactly the text of a known host. */
export function recognizeWrapper(text: string, context: WrapperContext): HostWrapper | null {
  return claudeCodeWrapper(text, context) ?? geminiWrapper(text, context);
}
