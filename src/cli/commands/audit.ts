import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { styleText } from "node:util";
import type { AuditEntry, AuditFilter } from "../../core/audit.ts";
import type { AuditLog } from "../../storage/audit.ts";
import type { ChainHead, ChainReport } from "../../storage/audit-chain.ts";
import { SessionStore } from "../../storage/sessions.ts";
import { parseDuration } from "../../text/format.ts";
import type { Column } from "../../text/table.ts";
import { alignedTable, tabbedTable } from "../../text/table.ts";
import { visible } from "../../text/visible.ts";
import { type Command, type Invocation, type Io, UsageError } from "../command.ts";
import { printJson, progressLine } from "../io.ts";
import { withDatabase } from "../open.ts";
import { countOption, textOption } from "../options.ts";
import { whileRead } from "../terminal/output-reader.ts";

const TAIL = 20;

export const audit: Command = {
  name: "audit",
  summary: "Search, verify and export the audit log",
  usage: "sallyport audit [tail | search [TEXT] | verify | export] [OPTIONS]",
  description: `
    The audit log records every request, decision and result. Each entry contains the hash of the entry before it, so
    that changes to the log can be detected.`,
  actions: {
    tail: "Show the latest entries (default)",
    search: "Show the entries that contain TEXT and match the options",
    verify: "Verify the hash chain; if an entry was altered, removed or inserted, report the first one and exit with 1",
    export: "Print all matching entries as JSON lines",
  },
  options: {
    lines: { type: "string", short: "n" },
    session: { type: "string" },
    kind: { type: "string" },
    outcome: { type: "string" },
    since: { type: "string" },
    until: { type: "string" },
    follow: { type: "boolean", short: "f" },
    before: { type: "string" },
    anchor: { type: "string" },
  },
  help: {
    lines: `N: Show at most N entries (default: ${TAIL}; search: 50)`,
    session: "SESSION: Show only entries about this session",
    kind: "KIND: Show only entries of this kind, for example run or exit",
    outcome: "OUTCOME: Show only entries with this outcome, for example blocked",
    since: "WHEN: Show only entries since a timestamp (2026-11-15T03:00:00Z) or a relative time (5m for 5 minutes ago)",
    until: "WHEN: Show only entries before a timestamp or a relative time",
    follow: "Wait for new entries and print them",
    before: "SEQ: Show only entries before this sequence number",
    anchor: "SEQ:HASH: Require that the log contains the entry that an earlier `verify` printed as its head",
    agent: "NAME: Show only entries about this agent",
    json: "Print one JSON object per entry, with details; for verify, one object",
  },
  groups: {
    "Options for tail": ["follow"],
    "Options for search": ["before"],
    "Options for verify": ["anchor"],
  },
  sections: {
    Output: `When stdout is not a terminal, each entry is one line of tab-separated columns without a header: SEQ, AT, KIND,
      OUTCOME, AGENT, SESSION, ACTOR, CHANNEL, SUMMARY.`,
  },
  examples: [
    ["Follow the audit log", "sallyport audit tail -f"],
    ["List the commands blocked in the last day", "sallyport audit search --outcome blocked --since 1d"],
    ["Search for text in the entries of one agent", "sallyport audit search 'rm -rf' --agent builder"],
    ["Verify the hash chain", "sallyport audit verify"],
    ["Export the last week", "sallyport audit export --since 7d > audit.ndjson"],
  ],
  run: (invocation) => {
    const [action = "tail", ...words] = [...invocation.positionals, ...(invocation.rest ?? [])];
    const act = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!act) throw new UsageError(`unknown subcommand \`audit ${action}\`; use ${Object.keys(ACTIONS).join(", ")}`);
    if (words.length > 0 && action !== "search")
      throw new UsageError(`unexpected argument \`${words[0]}\` for \`audit ${action}\``);
    const anchor = anchorOption(invocation.values);
    return withDatabase(invocation, async (database) => {
      const { AuditLog } = await import("../../storage/audit.ts");
      const filter = auditFilter(invocation.values, words.join(" "), database, Date.now());
      return act({ ...invocation, log: new AuditLog(database), filter, anchor });
    });
  },
};

type Values = Invocation["values"];

const FOLLOW_MS = 200;

interface Asked extends Invocation {
  log: AuditLog;
  filter: AuditFilter;
  anchor: ChainHead | undefined;
}

const ACTIONS: Record<string, (asked: Asked) => Promise<number>> = {
  async tail({ log, filter, values, io }) {
    const entries = log.tail(countOption(values, "lines") ?? TAIL, filter);
    print(entries, values.json === true, io, { titles: true });
    if (values.follow)
      await whileRead((signal) => follow(log, filter, entries.at(-1)?.seq, { json: values.json === true, io, signal }));
    else if (entries.length === 0 && io.isTTY.stdout) io.err("No audit entries.\n");
    return 0;
  },

  async search({ log, filter, values, io }) {
    const limit = countOption(values, "lines") ?? 50;
    const before = countOption(values, "before");
    const entries = log.search({ ...filter, limit, ...(before === undefined ? {} : { before }) }).reverse();
    print(entries, values.json === true, io, { titles: true });
    if (entries.length === 0 && io.isTTY.stdout) io.err("No matching entries.\n");
    else if (entries.length === limit && io.isTTY.stdout)
      io.err(`Use \`--before ${entries[0]?.seq}\` to show earlier entries.\n`);
    return 0;
  },

  async verify({ log, values, io, anchor }) {
    const progress = progressLine("entries", io);
    const report = log.verify({ onProgress: progress.show, ...(anchor ? { anchor } : {}) });
    progress.remove();
    if (values.json) printJson(report, io);
    else io.out(`${io.isTTY.stdout ? chainSentence(report) : chainLine(report)}\n`);
    return report.broken ? 1 : 0;
  },

  async export({ log, filter, io }) {
    for (const line of log.export(filter)) {
      io.out(line);
      await io.drained();
    }
    return 0;
  },
};

async function follow(
  log: AuditLog,
  filter: AuditFilter,
  from: number | undefined,
  { json, io, signal }: { json: boolean; io: Io; signal: AbortSignal },
) {
  for (let seq = from ?? log.tail(1)[0]?.seq ?? 0; ; ) {
    await io.drained();
    const entries = log.after(seq, filter);
    print(entries, json, io, { titles: false });
    seq = entries.at(-1)?.seq ?? seq;
    if (entries.length === 0) await sleep(FOLLOW_MS);
    signal.throwIfAborted();
  }
}

function print(entries: AuditEntry[], json: boolean, io: Io, { titles }: { titles: boolean }): void {
  if (entries.length === 0) return;
  if (json) {
    io.out(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  } else if (io.isTTY.stdout) {
    const table = alignedTable(auditColumns(io.color), entries, io.columns);
    io.out(titles ? table : table.slice(table.indexOf("\n") + 1));
  } else {
    io.out(tabbedTable(AUDIT_PIPED_COLUMNS, entries));
  }
}

function anchorOption(values: Invocation["values"]): ChainHead | undefined {
  const text = textOption(values, "anchor");
  if (text === undefined) return undefined;
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!seq || !hash) {
    throw new UsageError(`\`--anchor\` must be SEQ:HASH, as \`audit verify\` prints it; received \`${text}\``);
  }
  return { seq: Number(seq), hash };
}

/** Converts the options of `audit` to a filter. */
function auditFilter(values: Values, text: string, database: DatabaseSync, nowMs: number): AuditFilter {
  const filter: AuditFilter = {};
  for (const name of ["agent", "kind", "outcome"] as const) {
    const value = textOption(values, name);
    if (value !== undefined) filter[name] = value;
  }
  for (const name of ["since", "until"] as const) {
    const value = textOption(values, name);
    if (value !== undefined) filter[name] = timeOf(name, value, nowMs);
  }
  const session = textOption(values, "session");
  if (session !== undefined) filter.session = sessionId(session, database);
  if (text !== "") filter.text = text;
  return filter;
}

/** Returns the ID of a session. The log also has entries about removed sessions, so an unknown ID is used as it is. */
function sessionId(reference: string, database: DatabaseSync): string {
  const store = new SessionStore(database);
  const named = store.named(reference);
  if (named) return named.id;
  const matches = /^[0-9a-f-]+$/.test(reference) ? store.withPrefix(reference) : [];
  return matches.length === 1 && matches[0] ? matches[0].id : reference;
}

function timeOf(option: string, text: string, nowMs: number): number {
  const ago = parseDuration(text);
  const time = ago === null ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(time)) {
    const expected = "a relative time such as 5m, or a timestamp such as 2026-11-15T03:00:00Z";
    throw new UsageError(`\`--${option}\` must be ${expected}; received \`${text}\``);
  }
  return time;
}

const OUTCOME_COLOR: Record<string, "red" | "yellow" | "green"> = {
  blocked: "red",
  denied: "red",
  deny: "red",
  failed: "red",
  lost: "red",
  asked: "yellow",
  ask: "yellow",
  expired: "yellow",
  timed_out: "yellow",
  killed: "yellow",
  approved: "green",
};

/** Returns the columns for a terminal. They are padded to a fixed width, so that `tail -f` stays aligned. */
function auditColumns(color: boolean): Column<AuditEntry>[] {
  return [
    { title: "SEQ", value: ({ seq }) => String(seq).padStart(6), align: "right" },
    {
      title: "TIME",
      value: ({ at }) =>
        visible(
          at
            .slice(5)
            .replace("T", " ")
            .replace(/\.\d+Z$/, "Z"),
        ),
    },
    { title: "KIND", value: ({ kind }) => visible(kind).padEnd(8) },
    {
      title: "OUTCOME",
      value: ({ outcome }) => visible(outcome).padEnd(9),
      style: (text, { outcome }) => paint(text, outcome, color),
    },
    { title: "ACTOR", value: ({ actor }) => visible(actor).padEnd(7) },
    { title: "SUMMARY", value: ({ summary }) => visible(summary), flexible: true },
  ];
}

function paint(text: string, outcome: string, color: boolean): string {
  const hue = OUTCOME_COLOR[outcome];
  return color && hue ? styleText(hue, text, { validateStream: false }) : text;
}

/** The columns for a pipe. Nothing is shortened. Details are only in the JSON output. */
const AUDIT_PIPED_COLUMNS: Column<AuditEntry>[] = [
  { title: "SEQ", value: ({ seq }) => String(seq) },
  { title: "AT", value: ({ at }) => visible(at) },
  { title: "KIND", value: ({ kind }) => visible(kind) },
  { title: "OUTCOME", value: ({ outcome }) => visible(outcome) },
  { title: "AGENT", value: ({ agent }) => visible(agent) },
  { title: "SESSION", value: ({ session }) => visible(session ?? "-") },
  { title: "ACTOR", value: ({ actor }) => visible(actor) },
  { title: "CHANNEL", value: ({ channel }) => visible(channel) },
  { title: "SUMMARY", value: ({ summary }) => visible(summary) },
];

function chainSentence({ entries, head, broken, gaps }: ChainReport): string {
  if (broken)
    return `The audit log is broken at entry ${broken.seq}: ${broken.why}. The ${entries} entries before it are intact.`;
  if (entries === 0) return "The audit log is empty.";
  const intact = `All ${entries} entries are intact. The head is ${head.seq}:${head.hash}`;
  if (gaps.length === 0) return intact;
  const where = gaps.map(({ seq }) => `before ${seq}`).join(", ");
  return `${intact}\nEntries may be missing ${where}: the machine stopped before they were on the disk. See \`sallyport audit search --kind gap\`.`;
}

function chainLine({ entries, head, broken, gaps }: ChainReport): string {
  if (broken) return `broken\t${broken.seq}\t${broken.why}`;
  const word = gaps.length === 0 ? "intact" : "incomplete";
  return [word, entries, `${head.seq}:${head.hash}`, ...gaps.map(({ seq }) => seq)].join("\t");
}
