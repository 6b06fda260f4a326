import type { ToolAnnotations } from "./tool.ts";

/** A command can do anything to its world, also what cannot be undone. */
export const RUNS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

/** Only tells what is known here. */
export const LOOKS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** What is ended stays ended, however often it is asked for. */
export const ENDS: ToolAnnotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};
