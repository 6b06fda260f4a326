import type { Sample } from "./pages.ts";

/** What is typed after `$ ` (or `worker$ `, on another machine), and below it what it answers. */
export interface Step {
  machine: string;
  command: string;
  /** Null: the page shows nothing of it, and it only has to end well. */
  expected: string | null;
  /** On one of 160 columns: tables have titles there, and are cut to it. */
  onTerminal: boolean;
  line: number;
}

/** A block of a transcript, or of plain commands. */
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

/** Lines outside of blocks that Markdown shows as code, too. */
export function indentedLines(page: string): string[] {
  return page.replaceAll(/^```[\s\S]*?^```$/gm, "").match(/^ {4}\S.*$/gm) ?? [];
}
