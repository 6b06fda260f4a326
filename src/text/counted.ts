/** `0 lines`, `1 line`, `12,345 lines`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** By hand: Intl takes longer to get ready than a command line's whole start may. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}
