/** A policy as plain data, as the configuration brings it. */
import type { AllowEntry, UserRule } from "../contract/policy.ts";
import type { Modes } from "./modes.ts";

export type { AllowEntry, UserRule };

export interface Policy extends Partial<Modes> {
  allowlist?: readonly AllowEntry[];
  rules?: readonly UserRule[];
  /** Which of the built-in text filters need no entry; null or left out: all of them. */
  safeBins?: readonly string[] | null;
  /** Ids of default denials that a person has lifted: they are asked then, never run by themselves. */
  permits?: readonly string[];
  /** Modes of single agents; each can only tighten. */
  agents?: Readonly<Record<string, Partial<Modes>>>;
}
