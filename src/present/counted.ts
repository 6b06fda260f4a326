const digits = new Intl.NumberFormat("en-US");

/** `0 lines`, `1 line`, `12,345 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${digits.format(count)} ${count === 1 ? noun : plural}`;
}
