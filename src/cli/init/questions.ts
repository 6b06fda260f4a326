import { createInterface } from "node:readline/promises";
import type { ConfigFile } from "../../config/schema.ts";
import type { Io } from "../command.ts";

export type Chosen = Pick<ConfigFile, "sandbox" | "network" | "ask">;

interface Question {
  key: keyof Chosen;
  asks: string;
  /** The first is the default. */
  answers: [value: string, meaning: string][];
}

const QUESTIONS: Question[] = [
  {
    key: "sandbox",
    asks: "What may commands write to?",
    answers: [
      ["workspace-write", "the workspace and a temporary folder of their own"],
      ["read-only", "that temporary folder only"],
      ["isolated", "the workspace, and they see no process of anybody else"],
      ["off", "whatever you may write to; more is asked for then"],
    ],
  },
  {
    key: "network",
    asks: "May they use the network?",
    answers: [
      ["on", "yes"],
      ["off", "no, unless a person says yes to one that asks"],
    ],
  },
  {
    key: "ask",
    asks: "When is a person asked?",
    answers: [
      ["on-miss", "when the sandbox cannot hold what a command could do"],
      ["always", "before every command"],
      ["off", "never: such commands are denied"],
    ],
  },
];

/** Asks what the flags have not said. An empty line takes the default; what is no answer is asked again. */
export async function askQuestions(known: Partial<Chosen>, io: Io): Promise<Required<Chosen> | null> {
  const lines = createInterface({ input: io.stdin, output: process.stderr });
  const gone = new AbortController();
  lines.once("close", () => gone.abort());
  const chosen: Record<string, unknown> = { ...known };
  try {
    for (const { key, asks, answers } of QUESTIONS) {
      if (chosen[key] !== undefined) continue;
      const rows = answers.map(([value, meaning], index) => `  ${index + 1}  ${value.padEnd(17)}${meaning}\n`);
      io.err(`\n${asks}\n${rows.join("")}`);
      while (chosen[key] === undefined) {
        const said = (await lines.question(`1 to ${answers.length} [1]: `, { signal: gone.signal })).trim() || "1";
        chosen[key] = (answers[Number(said) - 1] ?? answers.find(([value]) => value === said))?.[0];
      }
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
    io.err("\n");
    return null;
  } finally {
    lines.close();
  }
  return chosen as Required<Chosen>;
}

export function defaultsFor(known: Partial<Chosen>): Required<Chosen> {
  const defaults = Object.fromEntries(QUESTIONS.map(({ key, answers }) => [key, answers[0]?.[0]]));
  return { ...defaults, ...known } as Required<Chosen>;
}
