import { styleText } from "node:util";
import type { ProcessInfo, SessionHandle } from "../../../core/gateway.ts";
import type { SessionLimits } from "../../../core/session.ts";
import { formatDuration, formatSize } from "../../../text/format.ts";
import type { Column } from "../../../text/table.ts";
import { alignedTable } from "../../../text/table.ts";
import { fit } from "../../../text/width.ts";
import type { Io } from "../../command.ts";
import type { Key } from "../../terminal/full-screen.ts";
import { fullScreen } from "../../terminal/full-screen.ts";

/** The resource usage of one session. */
export interface UsageRow {
  id: string;
  name: string;
  status: string;
  /** CPU usage since the previous measurement, 100 for one core. Null once the session has ended. */
  cpuPercent: number | null;
  cpuMs: number;
  /** Memory of the current processes. */
  memoryBytes: number;
  memoryPeakBytes: number;
  processCount: number;
  ioReadBytes: number;
  ioWriteBytes: number;
  limits: SessionLimits | null;
}

const percent = ({ cpuPercent }: UsageRow) => (cpuPercent === null ? "-" : `${cpuPercent.toFixed(1)}%`);

/** Returns the current memory usage, or the peak once the session has ended. */
const memory = ({ processCount, memoryBytes, memoryPeakBytes }: UsageRow) =>
  formatSize(processCount > 0 ? memoryBytes : memoryPeakBytes);

const ofLimit = (value: string, limit: string | null | undefined) => (limit ? `${value} of ${limit}` : value);

const memoryOfLimit = (row: UsageRow) => {
  const limit = row.limits?.memoryBytes ?? null;
  return ofLimit(memory(row), limit === null ? null : formatSize(limit));
};

export const USAGE_COLUMNS: Column<UsageRow>[] = [
  { title: "NAME", value: ({ name }) => name, flexible: true },
  { title: "STATUS", value: ({ status }) => status },
  {
    title: "CPU",
    value: (row) => ofLimit(percent(row), row.limits?.cpu ? `${row.limits.cpu * 100}%` : null),
    align: "right",
  },
  { title: "TIME", value: ({ cpuMs }) => formatDuration(cpuMs), align: "right" },
  { title: "MEMORY", value: memoryOfLimit, align: "right" },
  { title: "PROCS", value: ({ processCount }) => String(processCount), align: "right" },
  { title: "READ", value: ({ ioReadBytes }) => formatSize(ioReadBytes), align: "right" },
  { title: "WRITTEN", value: ({ ioWriteBytes }) => formatSize(ioWriteBytes), align: "right" },
];

export const USAGE_PIPED_COLUMNS: Column<UsageRow>[] = [
  { title: "ID", value: ({ id }) => id },
  { title: "NAME", value: ({ name }) => name },
  { title: "STATUS", value: ({ status }) => status },
  { title: "CPU", value: percent },
  ...(["cpuMs", "memoryBytes", "memoryPeakBytes", "processCount", "ioReadBytes", "ioWriteBytes"] as const).map(
    (key): Column<UsageRow> => ({ title: key, value: (row) => String(row[key]) }),
  ),
];

export type Measured = UsageRow & { processes: ProcessInfo[] };

/** Measures sessions repeatedly. CPU usage is computed from the CPU time between two measurements. */
export class UsageMeter {
  #before = new Map<string, { atMs: number; cpuMs: number }>();

  measure(sessions: SessionHandle[]): Measured[] {
    const atMs = performance.now();
    const rows = sessions.map((session) => this.#measureOne(session, atMs));
    this.#before = new Map(rows.map(({ id, cpuMs }) => [id, { atMs, cpuMs }]));
    return rows;
  }

  #measureOne(session: SessionHandle, atMs: number): Measured {
    const { usage, processes } = session.usage();
    const { status, limits } = session.info();
    const before = this.#before.get(session.id);
    const cpuMs = usage?.cpuMs ?? 0;
    const memoryBytes = processes.reduce((sum, each) => sum + each.memoryBytes, 0);
    const share = before && processes.length > 0 ? (100 * (cpuMs - before.cpuMs)) / (atMs - before.atMs) : null;
    return {
      id: session.id,
      name: session.name,
      status,
      // The kernel counts CPU time in ticks of 10 ms, so a short interval can yield a slightly negative value.
      cpuPercent: share === null ? null : Math.max(0, Math.round(share * 10) / 10),
      cpuMs,
      memoryBytes,
      memoryPeakBytes: Math.max(usage?.memoryPeakBytes ?? 0, memoryBytes),
      processCount: processes.length,
      ioReadBytes: usage?.ioReadBytes ?? 0,
      ioWriteBytes: usage?.ioWriteBytes ?? 0,
      limits,
      processes,
    };
  }
}

/** The sort orders by key. */
const USAGE_ORDERS = {
  c: { by: "cpu", of: (row: UsageRow) => row.cpuPercent ?? -1 },
  m: { by: "memory", of: (row: UsageRow) => row.memoryBytes },
  t: { by: "time", of: (row: UsageRow) => row.cpuMs },
  w: { by: "written", of: (row: UsageRow) => row.ioWriteBytes },
  n: { by: "name", of: (row: UsageRow) => row.name },
} as const;

type UsageOrder = keyof typeof USAGE_ORDERS;

interface UsageView {
  rows: UsageRow[];
  order: UsageOrder;
  /** The index of the first visible row. */
  top: number;
}

interface Size {
  columns: number;
  rows: number;
  color: boolean;
}

/** The summary, the column titles, a blank line and the keys. */
const FRAME_ROWS = 4;

function usageRoom({ rows }: Pick<Size, "rows">): number {
  return Math.max(1, rows - FRAME_ROWS);
}

/** Sorts numbers in descending order and names alphabetically. Equal rows are ordered by name, so that they do not jump. */
function inOrder(rows: UsageRow[], order: UsageOrder): UsageRow[] {
  const { of } = USAGE_ORDERS[order];
  return rows.toSorted((a, b) => {
    const [left, right] = [of(a), of(b)];
    if (typeof left === "string") return left.localeCompare(String(right));
    return Number(right) - left || a.name.localeCompare(b.name);
  });
}

function usageScreen({ rows, order, top }: UsageView, size: Size): string[] {
  const styled = (style: "bold" | "dim", text: string) =>
    size.color ? styleText(style, text, { validateStream: false }) : text;
  const shown = inOrder(rows, order).slice(top, top + usageRoom(size));
  const [titles = "", ...table] = alignedTable(USAGE_COLUMNS, shown, size.columns).trimEnd().split("\n");
  const more = rows.length > shown.length ? ` (showing ${top + 1} to ${top + shown.length})` : "";
  return [
    fit(`${sum(rows)}${more}`, size.columns),
    ...(rows.length > 0 ? [styled("bold", titles), ...table] : []),
    "",
    styled("dim", fit(keys(order), size.columns)),
  ].slice(0, size.rows);
}

function sum(rows: UsageRow[]): string {
  if (rows.length === 0) return "No running sessions.";
  const total = (of: (row: UsageRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const sessions = rows.length === 1 ? "1 session" : `${rows.length} sessions`;
  const cpu = total(({ cpuPercent }) => cpuPercent ?? 0).toFixed(1);
  const processes = total(({ processCount }) => processCount);
  return `${sessions}, ${processes === 1 ? "1 process" : `${processes} processes`}: CPU ${cpu}%, memory ${formatSize(total(({ memoryBytes }) => memoryBytes))}`;
}

function keys(order: UsageOrder): string {
  const sorts = Object.entries(USAGE_ORDERS).map(([key, { by }]) =>
    key === order ? `[${key} ${by}]` : `${key} ${by}`,
  );
  return `sort: ${sorts.join("  ")}   j/k scroll   q quit`;
}

/** A redraw after a key press does not measure again within this time, because short intervals are inaccurate. */
const MEASURE_MS = 500;

const STEPS: Partial<Record<string, (room: number) => number>> = {
  j: () => 1,
  down: () => 1,
  k: () => -1,
  up: () => -1,
  " ": (room) => room,
  "page-down": (room) => room,
  b: (room) => -room,
  "page-up": (room) => -room,
};

/** Shows the resource usage of sessions until the user quits or `over` returns true. Returns the last rows. */
export async function watchUsage(
  chosen: () => SessionHandle[],
  over: (rows: UsageRow[]) => boolean,
  io: Io,
): Promise<UsageRow[]> {
  const meter = new UsageMeter();
  let view: UsageView = { rows: meter.measure(chosen()), order: "c", top: 0 };
  let measuredMs = performance.now();
  const measure = () => {
    if (performance.now() - measuredMs < MEASURE_MS) return;
    measuredMs = performance.now();
    view = within({ ...view, rows: meter.measure(chosen()) });
  };
  await fullScreen(
    {
      renew: () => {
        measure();
        return over(view.rows);
      },
      press: (key) => {
        view = within(pressed(view, key));
        return key.kind === "interrupt" || (key.kind === "text" && key.text === "q");
      },
      lines: (size) => usageScreen(view, { ...size, color: io.color }),
    },
    io,
  );
  return inOrder(view.rows, view.order);
}

function pressed(view: UsageView, key: Key): UsageView {
  const name = key.kind === "text" ? key.text : key.kind;
  if (Object.hasOwn(USAGE_ORDERS, name)) return { ...view, order: name as UsageOrder, top: 0 };
  const room = usageRoom({ rows: process.stdout.rows ?? 24 });
  return { ...view, top: view.top + (STEPS[name]?.(room) ?? 0) };
}

/** Limits the scroll position, so that the view does not scroll past the last row. */
function within(view: UsageView): UsageView {
  const most = view.rows.length - usageRoom({ rows: process.stdout.rows ?? 24 });
  return { ...view, top: Math.max(0, Math.min(view.top, most)) };
}
