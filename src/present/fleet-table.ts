import type { Trusted } from "../executor/fleet/trusted.ts";
import { shownLine } from "./approval-text.ts";
import { formatAge } from "./duration.ts";
import type { Column } from "./table.ts";

export function trustColumns(nowMs: number): Column<Trusted>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "KEY", value: ({ key }) => shownLine(key), flexible: true },
    { title: "ADDED", value: ({ addedAt }) => `${formatAge(nowMs - Date.parse(addedAt))} ago` },
    { title: "BY", value: ({ by }) => shownLine(by) },
  ];
}

/** For a program. */
export const PIPED_TRUST_COLUMNS: Column<Trusted>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "KEY", value: ({ key }) => shownLine(key) },
  { title: "ADDED", value: ({ addedAt }) => shownLine(addedAt) },
  { title: "BY", value: ({ by }) => shownLine(by) },
];
