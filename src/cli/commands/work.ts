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

/** There was nothing to claim. */
const EXIT_NONE = 1;

export const work: Command = {
  name: "work",
  summary: "Take up what waits to be done, such as exit callbacks",
  usage: "sallyport work [list | claim | ack ID LEASE | retry ID LEASE] [OPTIONS]",
  options: {
    all: { type: "boolean", short: "a" },
    only: { type: "string" },
    limit: { type: "string" },
    lease: { type: "string" },
    type: { type: "string", multiple: true },
    wait: { type: "string" },
    worker: { type: "string" },
    delay: { type: "string" },
    note: { type: "string" },
  },
  help: {
    all: "list: show what is done, too",
    only: "STATE: list: only what is pending, claimed or done",
    limit: "N: list: at most N items [50]",
    lease: "DUR: claim: others may take it if it is not done by then [60s]",
    type: "TYPE: claim: only items of this type; may be repeated",
    wait: "DUR: claim: wait this long for an item; 0 waits for ever",
    worker: "NAME: claim: shown as who holds it [your user name]",
    delay: "DUR: retry: not to be claimed again before [0]",
    note: "TEXT: retry: why it is given back",
    json: "print JSON",
  },
  actions: ["list", "claim", "ack", "retry"],
  choices: { only: ["pending", "claimed", "done"] },
  examples: [
    "sallyport work",
    "sallyport work claim --wait 0 --json",
    "sallyport work ack 17 0b9d9c3e-2f6a-4d0c-9f60-2c8b1f1a7d55",
    "sallyport work retry 17 0b9d9c3e-2f6a-4d0c-9f60-2c8b1f1a7d55 --delay 5m --note 'mail is down'",
  ],
  notes: `\`claim\` exits with ${EXIT_NONE} when there is nothing to do. Piped, it prints ID, LEASE, TYPE, KEY, PAYLOAD,
and \`list\` ID, PRIORITY, TYPE, STATE, TRIES, CREATED, DUE, KEY, PAYLOAD, with tabs between.`,
  run: (invocation) => {
    const [action = "list", ...given] = [...invocation.positionals, ...(invocation.rest ?? [])];
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!act) throw new UsageError(`there is no \`work ${action}\`; there are ${Object.keys(ACTIONS).join(", ")}`);
    const held = action === "ack" || action === "retry" ? heldItem(action, given) : noMore(action, given);
    return withGateway(invocation, (gateway) => act({ ...invocation, ...held, gateway, queue: gateway.work }));
  },
};

/** How soon an end that no gateway watched is noticed while waiting. */
const LOOK_EVERY_MS = 1000;

/** As many as may be configured (`limits.sessions`). */
const MOST_RUNNING = 10_000;

interface Asked extends Invocation {
  gateway: Gateway;
  queue: WorkQueue;
  id: number;
  lease: string;
}

/** A command that ended while nobody was looking has put nothing in yet: looking at those still running does that. */
function lookForEnded(gateway: Gateway): void {
  gateway.list({ live: true, limit: MOST_RUNNING });
}

const ACTIONS: Record<string, (asked: Asked) => Promise<number>> = {
  async list({ gateway, queue, values, io }) {
    lookForEnded(gateway);
    const only = choiceOption(values, "only", ["pending", "claimed", "done"] as const);
    const state = only ?? (values.all ? "all" : "open");
    const items = queue.list({ state, limit: countOption(values, "limit") ?? 50 });
    const empty = state === "open" ? "Nothing to do. `sallyport work list -a` shows what is done." : "No items.";
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
      lookForEnded(gateway);
      item = await queue.next({ ...options, timeoutMs: Math.max(0, Math.min(LOOK_EVERY_MS, end - performance.now())) });
    } while (!item && performance.now() < end);
    if (item) printClaim(item, values.json === true, io);
    else if (io.isTTY.stderr) io.err("Nothing to do.\n");
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
    throw new UsageError(`\`work ${action}\` needs the item's id and the lease it was claimed with: ID LEASE`);
  }
  return { id: Number(id), lease };
}

function noMore(action: string, [unexpected]: string[]): { id: number; lease: string } {
  if (unexpected !== undefined) throw new UsageError(`\`work ${action}\` takes no \`${unexpected}\``);
  return { id: 0, lease: "" };
}

/** For a person. */
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

/** For a program: everything whole. */
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
