/** Compares two texts line by line (Myers' algorithm). */

/** Consecutive lines that differ. */
export interface Hunk {
  /** The index of the first line in the old and in the new text. */
  oldLine: number;
  newLine: number;
  removed: string[];
  added: string[];
}

/** Splits a text into lines, which keep their line breaks. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export function hunksOf(before: string, after: string): Hunk[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const steps = shortestEdit(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const hunks: Hunk[] = [];
  let oldLine = head;
  let newLine = head;
  let open: Hunk | null = null;
  for (const step of steps) {
    if (step === "same") {
      open = null;
      oldLine++;
      newLine++;
      continue;
    }
    if (open === null) {
      open = { oldLine, newLine, removed: [], added: [] };
      hunks.push(open);
    }
    if (step === "removed") open.removed.push(old[oldLine++] ?? "");
    else open.added.push(now[newLine++] ?? "");
  }
  return hunks;
}

type Step = "same" | "removed" | "added";

/** Edits that set-up makes are small. Texts that differ more are compared as a whole (invariant 6). */
const MAX_EDITS = 2000;

function shortestEdit(old: string[], now: string[]): Step[] {
  const trace: Int32Array[] = [];
  const max = Math.min(old.length + now.length, MAX_EDITS);
  const offset = max + 1;
  let best = new Int32Array(2 * max + 3);
  for (let edits = 0; edits <= max; edits++) {
    trace.push(best.slice());
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && at(best, offset + k - 1) < at(best, offset + k + 1));
      let x = down ? at(best, offset + k + 1) : at(best, offset + k - 1) + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      best[offset + k] = x;
      if (x >= old.length && x - k >= now.length) return backtrack(trace, offset, old.length, now.length);
    }
    best = best.slice();
  }
  return [...old.map(() => "removed" as const), ...now.map(() => "added" as const)];
}

function backtrack(trace: Int32Array[], offset: number, oldLength: number, newLength: number): Step[] {
  const steps: Step[] = [];
  let x = oldLength;
  let y = newLength;
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const best = trace[edits] as Int32Array;
    const k = x - y;
    const down = k === -edits || (k !== edits && at(best, offset + k - 1) < at(best, offset + k + 1));
    const previous = down ? k + 1 : k - 1;
    const fromX = edits === 0 ? 0 : at(best, offset + previous);
    const fromY = edits === 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) {
      steps.push("same");
      x--;
      y--;
    }
    if (edits === 0) break;
    steps.push(down ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

function at(values: Int32Array, index: number): number {
  return values[index] ?? 0;
}

const CONTEXT = 3;

/** Formats the difference as a unified diff. `null` stands for a file that does not exist. */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  const old = linesOf(before ?? "");
  const now = linesOf(after ?? "");
  const groups: Hunk[][] = [];
  for (const hunk of hunksOf(before ?? "", after ?? "")) {
    const last = groups.at(-1)?.at(-1);
    if (last && hunk.oldLine - (last.oldLine + last.removed.length) <= 2 * CONTEXT) groups.at(-1)?.push(hunk);
    else groups.push([hunk]);
  }
  const title = `--- ${before === null ? "/dev/null" : path}\n+++ ${after === null ? "/dev/null" : path}\n`;
  return title + groups.map((group) => groupText(group, old, now)).join("");
}

function groupText(group: Hunk[], old: string[], now: string[]): string {
  const [first] = group;
  const last = group.at(-1);
  if (!first || !last) return "";
  const lead = Math.min(CONTEXT, first.oldLine);
  const oldEnd = Math.min(old.length, last.oldLine + last.removed.length + CONTEXT);
  const newEnd = Math.min(now.length, last.newLine + last.added.length + CONTEXT);
  const range = (start: number, end: number) => `${end === start ? start : start + 1},${end - start}`;
  const header = `@@ -${range(first.oldLine - lead, oldEnd)} +${range(first.newLine - lead, newEnd)} @@\n`;
  let body = "";
  let at = first.oldLine - lead;
  for (const { oldLine, removed, added } of group) {
    body += old
      .slice(at, oldLine)
      .map((line) => marked(" ", line))
      .join("");
    body += removed.map((line) => marked("-", line)).join("") + added.map((line) => marked("+", line)).join("");
    at = oldLine + removed.length;
  }
  return (
    header +
    body +
    old
      .slice(at, oldEnd)
      .map((line) => marked(" ", line))
      .join("")
  );
}

function marked(mark: string, line: string): string {
  return line.endsWith("\n") ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`;
}
