const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

const PART = /(\d+(?:\.\d+)?)(ms|[smhd])/g;

/** Parses `90`, `90s`, `250ms`, `5m`, `1h30m` or `2d` to milliseconds; a plain number is seconds. Null if invalid. */
export function parseDuration(text: string): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (!/^(\d+(\.\d+)?(ms|[smhd]))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(PART)) total += Number(amount) * UNIT_MS[unit as Unit];
  return Math.round(total);
}

/** Formats a duration with at most two units: `250ms`, `4.2s`, `3m12s`, `2h05m`, `3d4h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")}s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${two(seconds % 60)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
  const hours = Math.floor(minutes / 60);
  return `${Math.floor(hours / 24)}d${hours % 24}h`;
}

/** Formats an age with one unit: `3s`, `12m`, `2h`, `5d`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

const UNITS = ["B", "K", "M", "G", "T"] as const;

/** Parses `4096`, `64K`, `64M`, `1.5G` or `64MiB` to bytes; every unit is a power of 1024. Null if invalid. */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([KMGT])?(?:i?B)?$/i.exec(text);
  if (!match) return null;
  const power = match[2] ? UNITS.indexOf(match[2].toUpperCase() as (typeof UNITS)[number]) : 0;
  return Math.round(Number(match[1]) * 1024 ** power);
}

/** Formats a size with at most four digits: `512B`, `1.5K`, `64M`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const figures = unit > 0 && value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
  return `${figures}${UNITS[unit]}`;
}

const KIB = 1024;
const MIB = KIB * KIB;

/** Formats a number of bytes without rounding: `64 MiB`, `100 KiB`, `12,345 byte` before a noun. */
export function exactSize(bytes: number): string {
  if (bytes % MIB === 0) return `${grouped(bytes / MIB)} MiB`;
  return bytes % KIB === 0 ? `${grouped(bytes / KIB)} KiB` : `${grouped(bytes)} byte`;
}

/** Formats a count with its noun: `0 lines`, `1 line`, `12,345 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Groups digits without Intl, whose initialization is too slow for the start of the command line. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
