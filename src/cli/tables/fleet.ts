import type { TrustedKey } from "../../fleet/keys.ts";
import type { WorkerInfo } from "../../fleet/wire.ts";
import { formatAge } from "../../text/format.ts";
import { shownLine } from "../../text/shown-text.ts";
import type { Column } from "../../text/table.ts";

export function trustColumns(nowMs: number): Column<TrustedKey>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "KEY", value: ({ key }) => shownLine(key), flexible: true },
    { title: "ADDED", value: ({ addedAt }) => `${formatAge(nowMs - Date.parse(addedAt))} ago` },
    { title: "BY", value: ({ by }) => shownLine(by) },
  ];
}

/** For a program. */
export const PIPED_TRUST_COLUMNS: Column<TrustedKey>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "KEY", value: ({ key }) => shownLine(key) },
  { title: "ADDED", value: ({ addedAt }) => shownLine(addedAt) },
  { title: "BY", value: ({ by }) => shownLine(by) },
];

/** For a person. */
export function nodeColumns(nowMs: number): Column<WorkerInfo>[] {
  return [
    { title: "HOST", value: ({ host }) => shownLine(host) },
    { title: "STATE", value: stateOf },
    { title: "SLOTS", value: ({ slots, running }) => `${running}/${slots}`, align: "right" },
    { title: "LOAD", value: ({ load }) => load.toFixed(2), align: "right" },
    { title: "UP", value: ({ startedMs }) => formatAge(nowMs - startedMs) },
    { title: "VERSION", value: ({ release }) => shownLine(release) },
    { title: "LABELS", value: labelText, flexible: true },
  ];
}

/** For a program. */
export const PIPED_NODE_COLUMNS: Column<WorkerInfo>[] = [
  { title: "HOST", value: ({ host }) => shownLine(host) },
  { title: "STATE", value: stateOf },
  { title: "SLOTS", value: ({ slots }) => String(slots) },
  { title: "RUNNING", value: ({ running }) => String(running) },
  { title: "LOAD", value: ({ load }) => load.toFixed(2) },
  { title: "STARTED", value: ({ startedMs }) => new Date(startedMs).toISOString() },
  { title: "VERSION", value: ({ release }) => shownLine(release) },
  { title: "LABELS", value: labelText },
];

function stateOf({ draining, running, free, trouble }: WorkerInfo): string {
  if (trouble) return `trouble: ${shownLine(trouble)}`;
  if (draining) return running === 0 ? "drained" : "draining";
  return free === 0 ? "full" : "ready";
}

function labelText({ labels }: WorkerInfo): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? "-" : shownLine(pairs.sort().join(","));
}
