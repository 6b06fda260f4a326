import type { AllowEntry } from "../../core/policy.ts";
import { shownLine } from "../../text/shown-text.ts";
import type { Column } from "../../text/table.ts";

/** The configured allowlist, and when each entry was last used. */
export const ALLOWLIST_COLUMNS: Column<Omit<AllowEntry, "lastUsed"> & { lastUsed: string | null }>[] = [
  { title: "PATTERN", value: ({ pattern }) => shownLine(pattern) },
  { title: "ARGUMENTS", value: ({ args }) => (args === undefined ? "any" : shownLine(args)) },
  { title: "FOLDER", value: ({ cwd }) => shownLine(cwd ?? "any") },
  { title: "EXPIRES", value: ({ expires }) => expires ?? "never" },
  { title: "USED", value: ({ lastUsed }) => lastUsed ?? "never" },
  { title: "NOTE", value: ({ note }) => shownLine(note ?? ""), flexible: true },
];
