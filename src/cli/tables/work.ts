import type { ClaimedItem, WorkItem } from "../../storage/work-item.ts";
import { formatDuration } from "../../text/format.ts";
import type { Pair } from "../../text/pairs.ts";
import type { Column } from "../../text/table.ts";
import { visible } from "../../text/visible.ts";

/** For a person. */
export function workColumns(nowMs: number): Column<WorkItem>[] {
  return [
    { title: "ID", value: ({ id }) => String(id), align: "right" },
    { title: "PRIORITY", value: ({ priority }) => priority },
    { title: "TYPE", value: ({ type }) => visible(type) },
    { title: "STATE", value: (item) => stateText(item, nowMs) },
    { title: "TRIES", value: ({ attempts }) => String(attempts), align: "right" },
    { title: "AGE", value: ({ createdAt }) => formatDuration(nowMs - Date.parse(createdAt)) },
    { title: "KEY", value: ({ key }) => visible(key), flexible: true },
    { title: "NOTE", value: ({ note }) => visible(note ?? ""), flexible: true },
  ];
}

/** For a program: everything whole. */
export const WORK_PIPED_COLUMNS: Column<WorkItem>[] = [
  { title: "ID", value: ({ id }) => String(id) },
  { title: "PRIORITY", value: ({ priority }) => priority },
  { title: "TYPE", value: ({ type }) => visible(type) },
  { title: "STATE", value: ({ state }) => state },
  { title: "TRIES", value: ({ attempts }) => String(attempts) },
  { title: "CREATED", value: ({ createdAt }) => createdAt },
  { title: "DUE", value: ({ dueAt }) => dueAt },
  { title: "KEY", value: ({ key }) => visible(key) },
  { title: "PAYLOAD", value: ({ payload }) => jsonText(payload) },
];

export const CLAIM_PIPED_COLUMNS: Column<ClaimedItem>[] = [
  { title: "ID", value: ({ id }) => String(id) },
  { title: "LEASE", value: ({ lease }) => lease },
  { title: "TYPE", value: ({ type }) => visible(type) },
  { title: "KEY", value: ({ key }) => visible(key) },
  { title: "PAYLOAD", value: ({ payload }) => jsonText(payload) },
];

export function claimDetails(item: ClaimedItem): Pair[] {
  return [
    ["id", String(item.id)],
    ["lease", item.lease],
    ["until", item.dueAt],
    ["type", item.type],
    ["priority", item.priority],
    ["key", item.key],
    ["tries", String(item.attempts)],
    ...Object.entries(item.payload)
      .filter(([name]) => name !== "type" && name !== "priority")
      .map(([name, value]): Pair => [visible(name), typeof value === "string" ? value : JSON.stringify(value)]),
  ];
}

/** Still JSON, with everything written out that would not be seen. */
function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (hidden) =>
    Array.from({ length: hidden.length }, (_, at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}

function stateText({ state, dueAt }: WorkItem, nowMs: number): string {
  const left = Date.parse(dueAt) - nowMs;
  if (state === "claimed") return `claimed for ${formatDuration(left)}`;
  return state === "pending" && left > 0 ? `due in ${formatDuration(left)}` : state;
}
