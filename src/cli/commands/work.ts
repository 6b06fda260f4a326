import { userInfo } from "node:os";
import type { Gateway } from "../../gateway/gateway.ts";
import type { ClaimedItem, WorkItem, WorkQueue } from "../../storage/work.ts";
import { formatDuration } from "../../text/format.ts";
import type { Column, Pair } from "../../text/table.ts";
import { alignedPairs, tabbedTable } from "../../text/table.ts";
import { visible } from "../../text/visible.ts";
import { type Command, type Invocation, type Io, UsageError } from "../command.ts";
import { printJson } from "../io.ts";
import { withGateway } from "../open.ts";
import { choiceOption, countOption, durationOption, textOption, textOptions } from "../options.ts";
import { printList } from "../table.ts";

/** The exit code of `claim` when the queue has no item. */
const EXIT_NONE = 1;

export const work: Command = {
  name: "work",
  summary: "Process the work queue",
  usage: "sallyport work [list | claim | ack ID LEASE | retry ID LEASE] [OPTIONS]",
  description: `
    The work queue holds items that a program has to process, such as exit callbacks. A consumer claims an item with a
    lease, and acknowledges it before the lease expires. Otherwise the item can be claimed again.`,
  actions: {
    list: "List work items (default)",
    claim: "Claim the next item and print it with its lease",
    ack: "Mark a claimed item as done",
    retry: "Return a claimed item to the queue",
  },
  options: {
    all: { type: "boolean", short: "a" },
    only: { type: "string" },
    limit: { type: "string" },
    wait: { type: "string" },
    lease: { type: "string" },
    type: { type: "string", multiple: true },
    worker: { type: "string" },
    delay: { type: "string" },
    note: { type: "string" },
  },
  help: {
    all: "Also show items that are done",
    only: "STATE: Show only items in this state: pending, claimed or done",
    limit: "N: Show at most N items (default: 50)",
    wait: "DUR: Wait up to this time for an item; 0 waits indefinitely (default: do not wait)",
    lease: "DUR: Duration of the lease (default: 60s)",
    type: "TYPE: Claim only items of this type; repeatable",
    worker: "NAME: Name of the consumer that holds the lease (default: your user name)",
    delay: "DUR: Time before the item can be claimed again (default: 0)",
    note: "TEXT: Reason for the retry",
    json: "Print JSON",
  },
  groups: {
    "Options for list": ["all", "only", "limit"],
    "Options for claim": ["wait", "lease", "type", "worker"],
    "Options for retry": ["delay", "note"],
  },
  choices: { only: ["pending", "claimed", "done"] },
  sections: {
    "Exit status": [
      ["0", "Success"],
      [String(EXIT_NONE), "`claim` found no item"],
    ],
    Output: `When stdout is not a terminal, columns are separated by tabs and have no header. For list: ID, PRIORITY, TYPE,
      STATE, TRIES, CREATED, DUE, KEY, PAYLOAD. For claim: ID, LEASE, TYPE, KEY, PAYLOAD.`,
  },
  examples: [
    ["List open work items", "sallyport work"],
    ["Wait for the next item and claim it", "sallyport work claim --wait 0 --json"],
    ["Mark a claimed item as done", "sallyport work ack 17 0b9d9c3e-2f6a-4d0c-9f60-2c8b1f1a7d55"],
    [
      "Return a claimed item to the queue, to be claimed again in five minutes",
      "sallyport work retry 17 0b9d9c3e-2f6a-4d0c-9f60-2c8b1f1a7d55 --delay 5m --note 'mail server is down'",
    ],
  ],
  run: (invocation) => {
    const [action = "list", ...given] = [...invocation.positionals, ...(invocation.rest ?? [])];
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!act) throw new UsageError(`unknown subcommand \`work ${action}\`; use ${Object.keys(ACTIONS).join(", ")}`);
    const held = action === "ack" || action === "retry" ? heldItem(action, given) : noMore(action, given);
    return withGateway(invocation, (gateway) => act({ ...invocation, ...held, gateway, queue: gateway.work }));
  },
};

/** How often `claim --wait` looks for sessions that ended while no gateway was running. */
const POLL_MS = 1000;

/** The largest value of `limits.sessions`. */
const MOST_RUNNING = 10_000;

interface Asked extends Invocation {
  gateway: Gateway;
  queue: WorkQueue;
  id: number;
  lease: string;
}

/** Enqueues the exit callbacks of sessions that ended while no gateway was running. Listing the sessions does this. */
function noticeEnded(gateway: Gateway): void {
  gateway.list({ live: true, limit: MOST_RUNNING });
}

const ACTIONS: Record<string, (asked: Asked) => Promise<number>> = {
  async list({ gateway, queue, values, io }) {
    noticeEnded(gateway);
    const only = choiceOption(values, "only", ["pending", "claimed", "done"] as const);
    const state = only ?? (values.all ? "all" : "open");
    const items = queue.list({ state, limit: countOption(values, "limit") ?? 50 });
    const empty =
      state === "open"
        ? "No open work items. Use `sallyport work list -a` to show items that are done."
        : "No work items.";
    printList(items, { columns: () => workColumns(Date.now()), piped: WORK_PIPED_COLUMNS, empty }, { values, io });
    return 0;
  },

  async claim({ gateway, queue, values, io }) {
    const leaseMs = durationOption(values, "lease");
    const types = textOptions(values, "type");
    const waitMs = durationOption(values, "wait");
    const options = {
      worker: textOption(values, "worker") ?? userInfo().username,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(types.length > 0 ? { types } : {}),
    };
    const end = waitMs === 0 ? Number.POSITIVE_INFINITY : performance.now() + (waitMs ?? 0);
    let item: ClaimedItem | null;
    do {
      noticeEnded(gateway);
      item = await queue.next({ ...options, timeoutMs: Math.max(0, Math.min(POLL_MS, end - performance.now())) });
    } while (!item && performance.now() < end);
    if (item) printClaim(item, values.json === true, io);
    else if (io.isTTY.stderr) io.err("No work items.\n");
    return item ? 0 : EXIT_NONE;
  },

  async ack({ queue, id, lease }) {
    queue.ack(id, lease);
    return 0;
  },

  async retry({ queue, id, lease, values }) {
    const note = textOption(values, "note");
    queue.retry(id, lease, { delayMs: durationOption(values, "delay") ?? 0, ...(note ? { note } : {}) });
    return 0;
  },
};

function printClaim(item: ClaimedItem, json: boolean, io: Io): void {
  if (json) printJson(item, io);
  else
    io.out(io.isTTY.stdout ? alignedPairs(claimDetails(item), io.columns) : tabbedTable(CLAIM_PIPED_COLUMNS, [item]));
}

function heldItem(action: string, [id, lease, ...more]: string[]): { id: number; lease: string } {
  if (!id || !lease || more.length > 0 || !/^\d{1,15}$/.test(id)) {
    throw new UsageError(`\`work ${action}\` requires the ID of the item and its lease`);
  }
  return { id: Number(id), lease };
}

function noMore(action: string, [unexpected]: string[]): { id: number; lease: string } {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`work ${action}\``);
  return { id: 0, lease: "" };
}

/** Returns the columns for a terminal. */
function workColumns(nowMs: number): Column<WorkItem>[] {
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

/** The columns for a pipe. Nothing is shortened. */
const WORK_PIPED_COLUMNS: Column<WorkItem>[] = [
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

const CLAIM_PIPED_COLUMNS: Column<ClaimedItem>[] = [
  { title: "ID", value: ({ id }) => String(id) },
  { title: "LEASE", value: ({ lease }) => lease },
  { title: "TYPE", value: ({ type }) => visible(type) },
  { title: "KEY", value: ({ key }) => visible(key) },
  { title: "PAYLOAD", value: ({ payload }) => jsonText(payload) },
];

function claimDetails(item: ClaimedItem): Pair[] {
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

/** Returns JSON in which invisible characters are escaped. */
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
