/**
 * Models programs that run code from standard input: shells, and interpreters that can start other programs. Standard
 * input is known when it is a here-document, the output of a known command, or the input of the whole command.
 */
import { type Field, literal, type StreamContent } from "../expand/field.ts";
import { limits } from "../limits.ts";
import { versionless } from "../path.ts";
import { type Call, markCommandUnknown, type Runner } from "../walk/call.ts";
import { isRemote, readContent } from "../walk/streams.ts";
import { markOverLimit, pushSteps } from "../walk/walk.ts";
import { codeCommands, runsOtherCode, shellEscapes, startedEscapes } from "./shell-escapes.ts";

type Text = Extract<StreamContent, { kind: "text" }>;

interface ShellInput {
  positional?: Field[];
  remote?: boolean;
}

/** Records that the command runs code from the standard input of the whole command. */
export function noteInputReader(call: Call, language: "shell" | "other", unbuffered = false): void {
  if (call.stdin.kind === "none" || !call.stdin.input) return;
  const { input } = call.walk;
  if (input.reader !== "shell") input.reader = language;
  if (unbuffered) input.unbuffered = true;
}

/** Analyzes standard input as the commands of a shell. */
export function shellInput(call: Call, run: Runner, options: ShellInput = {}): void {
  noteInputReader(call, "shell");
  shellCode(call, run, call.stdin, options);
}

/** Analyzes a stream that a shell reads its commands from. */
export function shellCode(call: Call, run: Runner, content: StreamContent, options: ShellInput = {}): void {
  const feed = readContent(call.walk, content);
  const input = feed.kind !== "none" && feed.input ? { input: true as const } : {};
  if (feed.kind === "none") {
    markCommandUnknown(call, call.fact.span, "the shell reads commands from standard input");
    return;
  }
  const why = feed.kind === "unknown" ? feed.why : feed.uncertain?.why;
  const hidden = feed.kind === "unknown" || (feed.uncertain !== null && !feed.pattern && !feed.input);
  if (why !== undefined && (hidden || isRemote(feed))) {
    const piped = isRemote(feed) || (call.fact.piped && hidden) ? { piped: true as const } : {};
    const told = `this command runs code that is known only at run time: ${why}`;
    markCommandUnknown(call, call.fact.span, told, { ...piped, ...input });
  }
  if (feed.kind === "unknown") return;
  const { positional = [], remote = false } = options;
  const text = { positional, remote, stdin: { kind: "none" } as const, readsCommands: true, input: feed.input };
  const from = call.walk.commands.length;
  pushSteps(call.walk, () => afterInput(call, run, feed, from));
  run.text(call, codeField(call, feed), text);
}

function codeField(call: Call, feed: Text): Field {
  const { uncertain, field, text, input } = feed;
  if (input && text === call.walk.input.text)
    return { ...literal(text, text, { start: 0, end: text.length }), uncertain };
  if (field && text.trimEnd() === field.value) return { ...field, uncertain };
  return { ...literal(text, "", field?.span ?? call.fact.span), uncertain };
}

/** Commands that read the next lines of the standard input that they share with the shell. */
const LINE_READERS = /^(?:read|mapfile|readarray|head|line|dd|sed|awk|gawk|mawk|cat|tee|tail|xargs|ssh|select|g?sort)$/;

/**
 * Analyzes lines that may reach another program than the shell. A program that a line starts may read the lines after
 * it, and a command such as `read` may consume the beginning of a here-document, whose body then consists of commands.
 */
function afterInput(call: Call, run: Runner, feed: Text, from: number): void {
  const span = feed.field?.span ?? call.fact.span;
  const code = (text: string) => {
    const { uncertain } = feed;
    run.text(call, { ...literal(text, "", span), uncertain }, { stdin: { kind: "none" }, input: feed.input });
  };
  for (const text of startedEscapes(feed.text)) code(text);
  const reads = call.walk.commands.slice(from).some(({ executable: { name }, redirects }) => {
    const own = redirects.some(({ kind, fd }) => (kind === "read" || kind === "here") && (fd === null || fd === 0));
    return name !== null && LINE_READERS.test(name) && !own;
  });
  if (!reads || !spansLines(feed.text)) return;
  const lines = feed.text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > limits.inputLines)
    markOverLimit(call.walk, span, `standard input has more than ${limits.inputLines} lines that may be data or code`);
  for (const line of lines.slice(0, limits.inputLines)) code(line);
}

/** Reports whether a here-document or a quoted text spans several lines. */
function spansLines(text: string): boolean {
  return text.includes("<<") || text.split("\n").some((line) => (line.match(/['"`]/g)?.length ?? 0) % 2 === 1);
}

/** Models a program whose input is data, except for the commands that it passes to a shell. */
export function escapingProgram(call: Call, run: Runner): void {
  noteInputReader(call, "other");
  escapedCommands(call, run, call.stdin);
}

/** Analyzes the commands that an interpreter would pass to a shell, in a text that it reads as code. */
export function escapedCommands(call: Call, run: Runner, content: StreamContent): void {
  const feed = readContent(call.walk, content);
  if (feed.kind !== "text") return;
  const span = feed.field?.span ?? call.fact.span;
  const name = versionless(call.name);
  if (feed.input && runsOtherCode(name, feed.text))
    markCommandUnknown(call, span, `code for \`${call.name}\` is not analyzed`, { input: true });
  for (const text of [...shellEscapes([name], feed.text), ...codeCommands(feed.text)]) {
    const at = feed.input && call.walk.input.text !== null ? { start: 0, end: feed.text.length } : span;
    run.text(
      call,
      { ...literal(text, "", at), uncertain: feed.uncertain },
      { stdin: { kind: "none" }, input: feed.input },
    );
  }
}
