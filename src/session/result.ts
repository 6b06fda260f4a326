import { callerEnv } from "../core/caller.ts";
import type { RunResult } from "../core/result.ts";
import type { StreamName } from "../core/session.ts";
import type { ExecutionOutcome } from "../executor/execution.ts";
import { sandboxLabel } from "../sandbox/describe.ts";
import { decodeSnapshot } from "../sandbox/snapshot.ts";
import type { NewSession, SessionFields } from "../storage/sessions.ts";
import { RESULT_BYTES } from "../text/output-limits.ts";
import { paintsScreen, terminalText } from "../text/terminal/terminal-text.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { mayBeShellFailure, shellFailure } from "./failure/shell.ts";
import { readMergedText, readStreamText } from "./logs/text.ts";
import { hintsFor, outcomeOf } from "./outcome.ts";
import { signalName } from "./signals.ts";
import { readTerminalHistory } from "./terminal/history.ts";
import { finalUsage } from "./usage.ts";
import { terminalWarnings } from "./warnings.ts";

interface OutputText {
  stdout: string;
  stderr: string;
  output: string;
  truncated: RunResult["truncated"];
}

function read(folder: string, capture: NewSession["capture"], ending: ExecutionOutcome): OutputText {
  const known = typeof ending === "string" ? null : ending.streams;
  if (capture === "merged") {
    const output = readStreamText(folder, "output", RESULT_BYTES, known?.[0]?.bytes);
    const { text } = output;
    return { stdout: text, stderr: "", output: text, truncated: { stdout: output.omittedBytes, stderr: 0 } };
  }
  const stdout = readStreamText(folder, "stdout", RESULT_BYTES, known?.[0]?.bytes);
  const stderr = readStreamText(folder, "stderr", RESULT_BYTES, known?.[1]?.bytes);
  const sizes: Partial<Record<StreamName, number>> = { stdout: known?.[0]?.bytes, stderr: known?.[1]?.bytes };
  // With output on one stream only, there is nothing to interleave.
  const output =
    stderr.text === ""
      ? stdout.text
      : stdout.text === ""
        ? stderr.text
        : readMergedText(folder, capture, RESULT_BYTES, sizes).text;
  const truncated = { stdout: stdout.omittedBytes, stderr: stderr.omittedBytes };
  return { stdout: stdout.text, stderr: stderr.text, output, truncated };
}

/** Returns the launch error stored with the session, or one derived from the shell's message on stderr. */
function errorOf(session: SessionFields, error: string | null, exitCode: number | null, stderr: string) {
  if (error !== null) return JSON.parse(error) as RunResult["error"];
  if (session.args !== null || !mayBeShellFailure(exitCode)) return null;
  return shellFailure(exitCode, stderr, { cwd: session.cwd, path: callerEnv().PATH ?? "" });
}

/** The outcome when the gateway was closed while the command ran: the command continues and can be found again. */
const STILL_RUNNING = { status: "running", warnings: "[]", error: null } as const;

/** Builds the result of a foreground run. */
export function runResult(name: string, session: SessionFields, ending: ExecutionOutcome, folder: string): RunResult {
  const record = typeof ending === "string" ? null : ending;
  const ended = ending === "detached" ? STILL_RUNNING : outcomeOf(session, ending);
  const texts = read(folder, session.capture, ending);
  const said = session.capture === "merged" ? texts.output : texts.stderr;
  const exitCode = record?.code ?? null;
  return {
    id: session.id,
    name,
    status: ended.status,
    exitCode,
    signal: record ? signalName(record.signal) : null,
    ...texts,
    durationMs: record ? record.durationUs / 1000 : Date.now() - session.created_ms,
    timedOut: ended.status === "timed_out",
    leftover: record?.leftover ?? 0,
    resourceUsage: record ? finalUsage(record) : null,
    verdict: null,
    approvalId: null,
    sandbox: sandboxLabel(decodeSnapshot(session.sandbox)),
    warnings: [
      ...(ended.warnings === "[]" ? [] : (JSON.parse(ended.warnings) as string[])),
      ...(session.capture === "merged" ? terminalWarnings(readTerminalHistory(folder)) : []),
    ],
    hints: record ? hintsFor(said, session, record) : [],
    error: errorOf(session, ended.error, exitCode, said),
  };
}

/**
 * Returns the output of a command that ran on a terminal as text instead of raw bytes. A program that wrote lines
 * yields those lines in their final state; a full-screen program yields its last screen and the scrollback. The log
 * keeps every byte. Null when the command did not run on a terminal.
 */
export async function terminalOutput(folder: string): Promise<Partial<RunResult> | null> {
  const history = readTerminalHistory(folder);
  if (history === null || "failed" in history) return null;
  const { text, omittedAt } = readStreamText(folder, "output", RESULT_BYTES);
  if (!paintsScreen(text)) {
    const output = lineOutput(text, omittedAt);
    return { stdout: output, output };
  }
  const output = await screenOutput(folder);
  // The screen and its scrollback represent the whole output.
  return { stdout: output, output, truncated: { stdout: 0, stderr: 0 } };
}

/** Renders the text before and after omitted bytes separately, because their effect on the cursor is unknown. */
function lineOutput(text: string, omittedAt: number | null): string {
  if (omittedAt === null) return terminalText(text);
  return terminalText(text.slice(0, omittedAt)) + terminalText(text.slice(omittedAt));
}

async function screenOutput(folder: string): Promise<string> {
  const { LogTerminal } = await import("./terminal/log-terminal.ts");
  const terminal = await LogTerminal.open(folder);
  try {
    const text = terminal.text();
    return text === "" ? "" : truncateMiddle(`${text}\n`, { maxBytes: RESULT_BYTES }).text;
  } finally {
    terminal.close();
  }
}
