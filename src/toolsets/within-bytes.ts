/** As many of the first entries as fit, written as JSON (promise 6). */
export function withinBytes<T>(entries: readonly T[], maxBytes: number): T[] {
  const fitting: T[] = [];
  let bytes = 2;
  for (const entry of entries) {
    bytes += Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > maxBytes) break;
    fitting.push(entry);
  }
  return fitting;
}
