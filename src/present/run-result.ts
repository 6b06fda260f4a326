import type { RunResult } from "../contract/result.ts";
import type { StreamName } from "../contract/session.ts";
import type { Ending } from "../executor/executor.ts";
import { endingOf } from "../session/ending.ts";
import { readMergedSync, readTextSync } from "../session/logs/index.ts";
import { signalName } from "../session/signals.ts";
import { finalUsage } from "../session/usage.ts";
import type { NewSession } from "../store/sessions.ts";

/** Bytes of each stream that a result carries; the rest is in the logs. */
export const RESULT_BYTES = 1 << 20;

interface Texts {
  stdout: string;
  stderr: string;
  output: string;
  truncated: RunResult["truncated"];
}

function read(folder: string, capture: NewSession["capture"], ending: Ending): Texts {
  const known = ending === "lost" ? null : ending.streams;
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

/** What a foreground run resolves to. */
export function runResult(name: string, session: Omit<NewSession, "name">, ending: Ending, folder: string): RunResult {
  const record = ending === "lost" ? null : ending;
  const ended = endingOf(session, ending);
  return {
    id: session.id,
    name,
    status: ended.status,
    exitCode: record?.code ?? null,
    signal: record ? signalName(record.signal) : null,
    ...read(folder, session.capture, ending),
    durationMs: record ? record.durationUs / 1000 : Date.now() - session.created_ms,
    timedOut: ended.status === "timed_out",
    leftover: record?.leftover ?? 0,
    resourceUsage: record ? finalUsage(record) : null,
    verdict: null,
    approvalId: null,
    warnings: JSON.parse(ended.warnings) as string[],
    error: ended.error === null ? null : (JSON.parse(ended.error) as RunResult["error"]),
  };
}
