/** Shows what a command would change in files, and asks before it does. */
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";
import { unifiedDiff } from "../../setup/edit/diff.ts";
import type { FileText } from "../../setup/files.ts";
import { visible } from "../../text/visible.ts";
import type { Io } from "../command.ts";

/** A file with its text before and after. Null stands for a file that does not exist. */
export interface ChangedFile extends FileText {
  after: string | null;
}

/** Returns the change of a file as a unified diff, in color on a terminal. */
export function fileDiff({ path, real, text, after }: ChangedFile, io: Io): string {
  const title = path === real ? path : `${path} -> ${real}`;
  const lines = unifiedDiff(title, text, after).split("\n");
  // The text of a file is untrusted: it could move the cursor. Tabs and carriage returns are common and harmless here.
  return colored(lines.map((line) => line.replaceAll("\r", "").split("\t").map(visible).join("\t")).join("\n"), io);
}

function colored(diff: string, io: Io): string {
  if (!io.color) return diff;
  const paint = (line: string) => {
    if (/^(?:\+\+\+|---)/.test(line)) return styleText("bold", line, { validateStream: false });
    const color = line.startsWith("+") ? "green" : line.startsWith("-") ? "red" : line.startsWith("@") ? "cyan" : null;
    return color ? styleText(color, line, { validateStream: false }) : line;
  };
  return diff.split("\n").map(paint).join("\n");
}

/** Asks a question on the terminal. False unless the answer is yes, also when the terminal is closed. */
export async function confirm(question: string, io: Io): Promise<boolean> {
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  try {
    return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `, { signal: gone.signal })).trim());
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    io.err("\n");
    return false;
  } finally {
    lines.close();
  }
}
