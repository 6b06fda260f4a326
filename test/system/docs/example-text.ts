/** The text of the pages docs/toolset-NAME-examples.md, on which everything that differs between runs has a fixed form. */

/** A form of a value that differs between runs. Values that later calls repeat are numbered in order of appearance. */
interface Volatile {
  pattern: RegExp;
  shown: (number: number) => string;
}

const two = (number: number) => String(number).padStart(2, "0");

/** Values that a later call passes to a tool: IDs of sessions and approvals, and pids. */
const REPEATED: Volatile[] = [
  {
    pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    shown: (number) => `01a1de1d-0000-7000-8000-0000000000${two(number)}`,
  },
  { pattern: /(?<=\bpid[ =]|\bpid: |"pid": ?)\d+/g, shown: (number) => String(2000 + number) },
];

const MEASURED: [RegExp, string][] = [
  // A command that did not start has a duration of 0, or next to it if the kernel refused it.
  [/(?<=exit_code: -1, duration_ms: )\d+(?![\d]|, timed_out)/g, "0"],
  [/(?<=\bduration_ms: )[1-9]\d*/g, "12"],
  [/(?<=\bcpu_ms: )\d+/g, "8"],
  [/(?<=\b(?:memory_peak|io_read|io_write)_bytes: )\d+/g, "4096"],
  [/(?<=peak memory use )[\d.]+[KMGB]+/g, "96M"],
  [/(?<=[Ss]till running after )[\d.]+m?s/g, "2s"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-11-02T09:30:00.000Z"],
  // How much is dropped depends on the size of the pieces in which the keeper reads the output.
  [/[\d,]+(?= bytes were dropped: over the 64 MiB)/g, "16,777,216"],
  [/[\d,]{10,}(?= bytes left out)/g, "33,521,964"],
  [/(?<=\bstdout_consumed: )\d{8,}/g, "16777316"],
  // bash pads the pid to five columns.
  [/(?<=line \d+:) +\d+(?= (?:Killed|Terminated|Aborted|Segmentation|File size))/g, " 2001"],
];

/** Consecutive lines that differ only in numbers are shortened to the first and last two when there are more than these. */
const MOST_ALIKE = 6;
const KEPT = 2;
const LINE_LENGTH = 118;

/** Converts between the values of one run and the forms on the page. Each section of a page has its own numbers. */
export class Forms {
  readonly #places: readonly (readonly [actual: string, shown: string])[];
  readonly #shown = new Map<string, string>();
  readonly #actual = new Map<string, string>();

  /** `places` are paths of this run and their forms on the page, longest path first. */
  constructor(places: readonly (readonly [actual: string, shown: string])[]) {
    this.#places = places;
  }

  /** Returns an answer as the page shows it. */
  show(text: string): string {
    let shown = text;
    for (const [actual, form] of this.#places) shown = shown.replaceAll(actual, form);
    for (const { pattern, shown: form } of REPEATED) {
      shown = shown.replaceAll(pattern, (value) => this.#formOf(value, pattern, form));
    }
    for (const [pattern, form] of MEASURED) shown = shown.replaceAll(pattern, form);
    const lines = shown.replaceAll(/ +$/gm, "").trimEnd().split("\n");
    const short = withoutRepetition(lines.map((line) => withoutRepetition(line.split("\\n")).join("\\n")));
    const [only = ""] = short;
    return (short.length === 1 && only.startsWith("{") ? wrapped(only) : short).join("\n");
  }

  #formOf(value: string, { source }: RegExp, form: Volatile["shown"]): string {
    // A form that a call on the page has passed, such as an unknown ID, is repeated as it is.
    if (this.#actual.has(value)) return value;
    const key = `${source} ${value}`;
    const known = this.#shown.get(key);
    if (known !== undefined) return known;
    const number = [...this.#shown.keys()].filter((each) => each.startsWith(source)).length + 1;
    this.#shown.set(key, form(number));
    this.#actual.set(form(number), value);
    return form(number);
  }

  /** Reports whether a value of this run has a form on the page. */
  hasShown(value: string): boolean {
    return [...this.#actual.values()].includes(value);
  }

  /** Returns the arguments of a call with the values of this run. */
  actual(text: string): string {
    for (const { pattern } of REPEATED) {
      for (const [value] of text.matchAll(pattern)) if (!this.#actual.has(value)) this.#actual.set(value, value);
    }
    let actual = text;
    for (const [form, value] of this.#actual) {
      const pattern = new RegExp(`(?<![0-9a-f-])${form}(?![0-9a-f-])`, "g");
      actual = actual.replace(pattern, value);
    }
    for (const [place, form] of this.#places) actual = actual.replaceAll(form, place);
    return actual;
  }
}

function withoutRepetition(lines: string[]): string[] {
  const shapes = lines.map((line) => line.replaceAll(/\d+/g, "0"));
  const kept: string[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start + 1;
    while (end < lines.length && shapes[end] === shapes[start]) end++;
    const run = lines.slice(start, end);
    kept.push(...(run.length > MOST_ALIKE ? [...run.slice(0, KEPT), "…", ...run.slice(-KEPT)] : run));
    start = end;
  }
  return kept;
}

/** Breaks a JSON object after commas. Each line but the first starts with a blank. */
function wrapped(json: string): string[] {
  const lines: string[] = [];
  for (const part of json.split(/(?<=,)(?=["{])/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + part.length <= LINE_LENGTH) lines[lines.length - 1] = last + part;
    else lines.push(last === undefined ? part : ` ${part}`);
  }
  return lines;
}
