/** Reads and writes the examples on the pages docs/toolset-NAME-examples.md. */

/** A call of a tool, or an event such as a person's decision, and the answer below it. */
export interface ExampleStep {
  /** The line as it is on the page. */
  text: string;
  call: { tool: string; args: string } | null;
  /** The sentence in parentheses of a step that is not a call. */
  event: string | null;
  /** The answer on the page. */
  answer: string;
  /** The answer of a run. */
  actual: string;
}

export interface Example {
  heading: string;
  /** The line of the page on which the block starts. */
  line: number;
  steps: ExampleStep[];
}

const BLOCK = /^```text\n([\s\S]*?)^```$/gm;
const CALL = /^> (\S+) (\{.*\})$/;
const EVENT = /^\((?:A person|The (?:client|operator|request|work queue)) .*\)$/;

/** Returns the examples of a page: one for each `text` block. */
export function examplesOf(page: string): Example[] {
  return [...page.matchAll(BLOCK)].map(({ index, 1: block = "" }) => {
    const before = page.slice(0, index);
    const [heading = ""] = before.match(/^#{2,3} .*$/gm)?.slice(-1) ?? [];
    return { heading: heading.replace(/^#+ /, ""), line: before.split("\n").length, steps: stepsOf(block) };
  });
}

function stepsOf(block: string): ExampleStep[] {
  const parts: { text: string; answer: string[] }[] = [];
  for (const text of block.trimEnd().split("\n")) {
    if (CALL.test(text) || EVENT.test(text)) parts.push({ text, answer: [] });
    else parts.at(-1)?.answer.push(text);
  }
  return parts.map(({ text, answer }) => {
    const [, tool, args] = CALL.exec(text) ?? [];
    const call = tool === undefined || args === undefined ? null : { tool, args };
    return { text, call, event: call ? null : text.slice(1, -1), answer: answer.join("\n"), actual: "" };
  });
}

/** Returns the page with the answers of this run. */
export function withAnswers(page: string, examples: readonly Example[]): string {
  let at = 0;
  return page.replaceAll(BLOCK, () => {
    const { steps = [] } = examples[at++] ?? {};
    const lines = steps.flatMap(({ text, actual }) => (actual === "" ? [text] : [text, actual]));
    return `\`\`\`text\n${lines.join("\n")}\n\`\`\``;
  });
}
