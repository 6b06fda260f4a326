/** Parts of an output that differ between machines and runs, such as IDs, and the patterns that match any of them. */
const ANY: [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "[0-9a-f-]{36}"],
  [/\b01[0-9a-f]{6}-[0-9a-f]{4}\b/g, "[0-9a-f]{8}-[0-9a-f]{4}"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "[\\dT:.-]+Z"],
  [/(?<="\w+Ms":)\d{13}/g, "\\d{13}"],
  [/(?<=\b\w+_(ms|bytes): )\d+/g, "[\\d.]+"],
  [/\bpid:? \d+/g, "pid:? \\d+"],
  [/\bafter [\d.]+s\b/g, "after [\\d.]+s"],
  [/\bed25519:[\w-]{43}/g, "ed25519:[\\w-]{43}"],
  [/ ?\/home\/ann\/app\b/g, "\\s*/\\S+"],
  [/(?<=http:\/\/127\.0\.0\.1:)\d+/g, "\\d+"],
];
/** Further patterns for tables on a terminal, whose columns are as wide as their contents. */
const IN_TABLES: [RegExp, string][] = [
  [/ *\b\d[\d.]*(ms|[smKMGB%])(?!\w)/g, " *[\\d.]+(?:ms|[smKMGB%])"],
  [/ {2,}/g, " +"],
];

/** Converts an output shown in the docs to a pattern. `…` matches any text. */
function patternOf(expected: string, onTerminal: boolean): RegExp {
  const kinds = onTerminal ? [...ANY, ...IN_TABLES] : ANY;
  let rest = expected.trimEnd();
  const patterns: string[] = [];
  for (const [shown, pattern] of kinds) {
    rest = rest.replaceAll(shown, () => `\0${patterns.push(pattern) - 1}\0`);
  }
  const escaped = rest.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll("…", "[\\s\\S]*?");
  return new RegExp(`^${escaped.replaceAll(/\0(\d+)\0/g, (_, index) => patterns[index] ?? "")}\\s*$`);
}

/** Reports whether an output is the one that the docs show, apart from parts that differ between machines and runs. */
export function answers(output: string, expected: string, onTerminal = false): boolean {
  return patternOf(expected, onTerminal).test(output);
}
