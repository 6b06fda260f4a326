import { RESULT_BYTES } from "../core/output-limits.ts";
import type { RunResult } from "../core/result.ts";
import type { StreamName } from "../core/session.ts";
import type { Parting } from "../executor/executor.ts";
import { sandboxLabel } from "../sandbox/describe.ts";
import { recall } from "../sandbox/remembered.ts";
import type { NewSession } from "../storage/sessions.ts";
import { mayBeShellFailure, shellFailure } from "./failure/shell.ts";
import { hintsIn } from "./hints.ts";
import { terminalNotes } from "./info.ts";
import { readMergedSync, readTextSync } from "./logs/index.ts";
import { outcomeOf } from "./outcome.ts";
import type { Refusal } from "./refusal.ts";
import { signalName } from "./signals.ts";
import { terminalStory } from "./terminal/history.ts";
import { finalUsage } from "./usage.ts";

interface Texts {
  stdout: string;
  stderr: string;
  output: string;
  truncated: RunResult["truncated"];
}

function read(folder: string, capture: NewSession["capture"], ending: Parting): Texts {
  const known = typeof ending === "string" ? null : ending.streams;
  if (capture === "merged") {
    const output = readTextSync(folder, "output", RESULT_BYTES, known?.[0]?.bytes);
    const { text } = output;
    return { stdout: text, stderr: "", output: text, truncated: { stdout: output.omittedBytes, stderr: 0 } };
  }
  const stdout = readTextSync(folder, "stdout", RESULT_BYTES, known?.[0]?.bytes);
  const stderr = readTextSync(folder, "stderr", RESULT_BYTES, known?.[1]?.bytes);
  const sizes: Partial<Record<StreamName, number>> = { stdout: known?.[0]?.bytes, stderr: known?.[1]?.bytes };
  // With one stream silent there is nothing to interleave.
  const output =
    stderr.text === ""
      ? stdout.text
      : stdout.text === ""
        ? stderr.text
        : readMergedSync(folder, capture, RESULT_BYTES, sizes).text;
  const truncated = { stdout: stdout.omittedBytes, stderr: stderr.omittedBytes };
  return { stdout: stdout.text, stderr: stderr.text, output, truncated };
}

type Asked = Omit<NewSession, "name">;

/** A command that could not be started says why in its row; one that its shell could not run, in what the shell said. */
function errorOf(session: Asked, error: string | null, exitCode: number | null, stderr: string, path?: string) {
  if (error !== null) return JSON.parse(error) as RunResult["error"];
  if (session.args !== null || !mayBeShellFailure(exitCode)) return null;
  return shellFailure(exitCode, stderr, { cwd: session.cwd, path: path ?? process.env.PATH ?? "" });
}

/** The gateway was closed meanwhile: the command goes on, and any other gateway finds it. */
const RUNS_ON = { status: "running", warnings: "[]", error: null } as const;

/** What a foreground run resolves to. `path` is the command's own PATH, where it is not the gateway's. */
export function runResult(name: string, session: Asked, ending: Parting, folder: string, path?: string): RunResult {
  const record = typeof ending === "string" ? null : ending;
  const ended = ending === "detached" ? RUNS_ON : outcomeOf(session, ending);
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
    sandbox: sandboxLabel(recall(session.sandbox)),
    warnings: [
      ...(ended.warnings === "[]" ? [] : (JSON.parse(ended.warnings) as string[])),
      ...(session.capture === "merged" ? terminalNotes(terminalStory(folder)) : []),
    ],
    hints: record ? hintsIn(said, session, record) : [],
    error: errorOf(session, ended.error, exitCode, said, path),
  };
}

/** What a run that was not let through resolves to: nothing ran. */
export function refusedResult(
  { name, session, verdict, approvalId }: Pick<RunResult, "name" | "verdict" | "approvalId"> & { session: Asked },
  refusal: Refusal,
): RunResult {
  const nothing = { exitCode: null, signal: null, stdout: "", stderr: "", output: "", durationMs: 0, timedOut: false };
  return {
    id: session.id,
    name,
    status: refusal.status,
    ...nothing,
    truncated: { stdout: 0, stderr: 0 },
    leftover: 0,
    resourceUsage: null,
    verdict,
    approvalId,
    sandbox: sandboxLabel(recall(session.sandbox)),
    warnings: [],
    hints: [],
    error: refusal.error,
  };
}
