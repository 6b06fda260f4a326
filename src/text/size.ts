const UNITS = ["B", "K", "M", "G", "T"] as const;

/** `4096`, `64K`, `64M`, `1.5G`, `64MiB` in bytes; every unit is a power of 1024. Null for anything else. */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([KMGT])?(?:i?B)?$/i.exec(text);
  if (!match) return null;
  const power = match[2] ? UNITS.indexOf(match[2].toUpperCase() as (typeof UNITS)[number]) : 0;
  return Math.round(Number(match[1]) * 1024 ** power);
}

/** `512B`, `1.5K`, `64M`: three figures at most. */
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
