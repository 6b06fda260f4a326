import type { Sample } from "./pages.ts";

/** A command after the prompt `$ ` (or `worker$ ` for another machine), and the output shown below it. */
export interface Step {
  machine: string;
  command: string;
  /** The output that the page shows. Null when the page shows none and the command only has to succeed. */
  expected: string | null;
  /** Whether the command runs on a terminal with 160 columns, where tables have headings and are truncated. */
  onTerminal: boolean;
  line: number;
}

/** Reports whether a block is a transcript or a list of commands. */
export function isRun({ language }: Sample): boolean {
  return language === "console" || language === "sh";
}

export function stepsOf(sample: Sample): Step[] {
  return sample.language === "sh" ? plainSteps(sample) : shownSteps(sample);
}

function plainSteps({ text, line }: Sample): Step[] {
  return [...text.split("\n").entries()]
    .filter(([, command]) => !/^\s*(#|$)/.test(command))
    .map(([index, command]) => ({
      machine: "",
      command,
      expected: null,
      onTerminal: false,
      line: line + index + 1,
    }));
}

function shownSteps({ text, line, note }: Sample): Step[] {
  const steps: Step[] = [];
  for (const [index, each] of text.split("\n").entries()) {
    const last = steps.at(-1);
    const [, machine = "", command] = /^([a-z]*)\$ (.*)$/.exec(each) ?? [];
    if (command !== undefined) {
      steps.push({ machine, command, expected: "", onTerminal: note === "on a terminal", line: line + index + 1 });
    } else if (last?.command.endsWith("\\")) last.command += `\n${each}`;
    else if (last) last.expected += `${each}\n`;
  }
  return steps;
}

const COMMAND = /^ *([a-z]*\$|sallyport|npm|npx|node|nats-server|curl|claude|scripts\/\S*) /m;

export function hasCommands(text: string): boolean {
  return COMMAND.test(text);
}

/** Returns the indented lines outside of fenced blocks, which Markdown renders as code as well. */
export function indentedLines(page: string): string[] {
  return page.replaceAll(/^```[\s\S]*?^```$/gm, "").match(/^ {4}\S.*$/gm) ?? [];
}
