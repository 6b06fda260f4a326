/** Returns the duration in microseconds of a warm call for each text: the median of several rounds, to ignore outliers. */
export function timings(texts: readonly string[], call: (text: string) => unknown, rounds: number): number[] {
  for (let warm = 0; warm < rounds; warm++) for (const text of texts) call(text);
  return texts.map((text) => {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = process.hrtime.bigint();
      call(text);
      taken.push(Number(process.hrtime.bigint() - start) / 1000);
    }
    return percentile(taken, 0.5);
  });
}

export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
