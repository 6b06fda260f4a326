import type { SessionLimits } from "../../core/session.ts";
import { formatDuration } from "../../text/format.ts";
import { formatSize } from "../../text/size.ts";
import type { Column } from "../../text/table.ts";

/** What one session consumes, as `stats` shows it. */
export interface UsageRow {
  id: string;
  name: string;
  status: string;
  /** Of one processor, since the sample before; null once it has ended. */
  cpuPercent: number | null;
  cpuMs: number;
  /** Of the processes alive now. */
  memoryBytes: number;
  memoryPeakBytes: number;
  processCount: number;
  ioReadBytes: number;
  ioWriteBytes: number;
  limits: SessionLimits | null;
}

const percent = ({ cpuPercent }: UsageRow) => (cpuPercent === null ? "-" : `${cpuPercent.toFixed(1)}%`);

/** What it takes now; what it took at its peak once it has ended. */
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
