import { worded } from "../core/next-step.ts";
import type { ResourceUsage, RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import { sessionLost } from "../session/errors.ts";
import { AVOID_INPUT } from "../session/input-wait.ts";
import { signalName } from "../session/signals.ts";
import { counted, formatDuration, formatSize } from "../text/format.ts";
import { forModel, toolsetWording } from "./next-steps.ts";
import type { ToolFailure } from "./tool.ts";
import type { Vocabulary } from "./vocabulary.ts";

type Outcome = RunResult | SessionInfo;

/**
 * Describes how a command ended and what to do next, in the words of a toolset. Returns null when it succeeded or is
 * still running, and left nothing to report. `timeoutMs` is the deadline that the caller set; a session has its own.
 *
 * Only the first cause that applies is named, in this order: timeout, lost session, error, refusal, kill, signal, exit
 * code. An earlier cause explains the later ones: a command that timed out also has a signal.
 *
 * @example
 * outcomeMessage(await gateway.run({ command: "make" }), words); // "Exit code 2."
 */
export function outcomeMessage(outcome: Outcome, words: Vocabulary, timeoutMs?: number): string | null {
  return joined([causeMessage(outcome, words, timeoutMs), ...remarks(outcome, words)]);
}

/** Returns what else happened, for a result whose error says how the command ended. */
export function remarksOnly(outcome: Outcome, words: Vocabulary): string | null {
  return joined(remarks(outcome, words));
}

/**
 * Like `outcomeMessage`, without an exit code whose meaning is not known, for a toolset whose text always shows the exit
 * code.
 */
export function outcomeNote(outcome: Outcome, words: Vocabulary, timeoutMs?: number): string | null {
  const plain = outcome.status === "completed" && !outcome.signal && !outcome.error && !hasMeaning(outcome.exitCode);
  return joined([plain ? null : causeMessage(outcome, words, timeoutMs), ...remarks(outcome, words)]);
}

/**
 * Like `outcomeMessage`, without what the exit code and the deadline already say, for a toolset whose text always
 * shows both.
 */
export function remarksMessage(outcome: Outcome, words: Vocabulary): string | null {
  const shown = outcome.status === "timed_out" || (outcome.status === "completed" && !outcome.signal);
  return joined([shown && !outcome.error ? null : causeMessage(outcome, words), ...remarks(outcome, words)]);
}

/** Returns what else happened: processes that were terminated, and what the sandbox probably stopped. */
function remarks(outcome: Outcome, words: Vocabulary): (string | null)[] {
  const hints = worded(outcome.hints, toolsetWording(words));
  return [leftoverMessage(outcome, words), ...hints.map(({ hint }) => hint)];
}

function joined(parts: readonly (string | null)[]): string | null {
  const sentences = parts.filter((part) => part !== null);
  return sentences.length > 0 ? sentences.join(" ") : null;
}

function causeMessage(outcome: Outcome, words: Vocabulary, timeoutMs?: number): string | null {
  const { status, error, signal } = outcome;
  if (status === "running") return null;
  if (status === "timed_out") return timeoutMessage(outcome, words, timeoutMs);
  if (status === "lost") return failureMessage(error ?? sessionLost(), words);
  if (error) return failureMessage(error, words);
  if (status in UNSTARTED) return UNSTARTED[status as keyof typeof UNSTARTED];
  if (status === "killed") return killedMessage(outcome);
  return signal ? `Killed by ${signalCause(signal, outcome.resourceUsage)}.` : exitCodeMessage(outcome);
}

/** Returns the error's message and its first recovery hint. */
function failureMessage(failure: ToolFailure, words: Vocabulary): string {
  const { message, recovery } = forModel(failure, words);
  const [first] = recovery;
  return first === undefined ? sentence(message) : `${sentence(message)} ${sentence(first.hint)}`;
}

/** Adds a period unless the text already ends with punctuation. */
function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]["'`)\]]?$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

const UNSTARTED = {
  blocked: "Blocked by a rule that cannot be overridden. Report this, and do not rephrase the command.",
  denied: "Denied. Ask the operator to allow the command, or use another approach.",
  pending: "Waiting for a person's approval. Nothing has run yet.",
} as const;

function timeoutMessage(outcome: Outcome, words: Vocabulary, timeoutMs: number | undefined): string {
  const deadline = timeoutMs ?? ("timeoutMs" in outcome ? outcome.timeoutMs : outcome.durationMs);
  const ended = `Timed out after ${formatDuration(deadline)}. The command and its child processes were killed; the output so far is kept.`;
  // A longer timeout does not help a program that waits for input. The hint says what does.
  if (outcome.hints.some(({ action }) => action === AVOID_INPUT)) return ended;
  const again = [words.timeout, words.background].filter((way) => way !== null).join(", or with ");
  return `${ended} If it needs longer, run it again with ${again}.`;
}

function killedMessage({ signal, exitCode }: Outcome): string {
  const how = signal ? ` with ${signal}` : exitCode === null ? "" : `, exit code ${exitCode}`;
  return `Terminated on request${how}. The output so far is kept.`;
}

/** Describes processes that outlived the command. Null when there are none to report. */
function leftoverMessage(outcome: Outcome, words: Vocabulary): string | null {
  if (outcome.status !== "completed") return null;
  if ("lingering" in outcome && outcome.background) {
    return outcome.lingering ? `Processes it started are still running; stop them with ${words.stop}.` : null;
  }
  if (outcome.leftover === 0) return null;
  const were = outcome.leftover === 1 ? "was" : "were";
  const left = counted(outcome.leftover, "process", "processes");
  return `${left} still running when the command exited ${were} terminated; to keep a process running, start it with ${words.background}.`;
}

const SHELL_SIGNAL = 128;
const LAST_SIGNAL = 64;
/** Exit codes with a conventional meaning in shells and wrapper commands. */
const EXIT_CODES: Record<number, string> = {
  124: "`timeout` stopped its command",
  125: "a wrapper such as `timeout` or `docker run` failed",
  126: "a command was found but could not be executed",
  127: "a command was not found",
};

function hasMeaning(exitCode: number | null): boolean {
  if (exitCode === null) return false;
  return exitCode in EXIT_CODES || (exitCode > SHELL_SIGNAL && exitCode <= SHELL_SIGNAL + LAST_SIGNAL);
}

/** Describes a nonzero exit code. Null for 0. */
function exitCodeMessage(outcome: Outcome): string | null {
  const { exitCode } = outcome;
  if (exitCode === null || exitCode === 0) return null;
  const meaning = EXIT_CODES[exitCode];
  if (meaning !== undefined) return joined([`Exit code ${exitCode}: ${meaning}.`, silentNote(outcome)]);
  const signal = exitCode > SHELL_SIGNAL && exitCode <= SHELL_SIGNAL + LAST_SIGNAL ? exitCode - SHELL_SIGNAL : 0;
  const name = signalName(signal);
  if (name === null) return joined([`Exit code ${exitCode}.`, silentNote(outcome)]);
  return `Exit code ${exitCode}: a process was probably killed by ${signalCause(name, outcome.resourceUsage)}.`;
}

/** Says that a failed command gave no reason. Null if it has output, which a result or the log shows. */
function silentNote(outcome: Outcome): string | null {
  const wrote =
    "stderr" in outcome ? outcome.output !== "" : Object.values(outcome.streams).some((stream) => stream.bytes > 0);
  return wrote ? null : "It wrote no output.";
}

/** The usual cause of a signal that Sallyport did not send. */
const USUAL_CAUSE: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: "the program aborted, usually after a failed assertion or heap corruption",
  SIGALRM: "a timer of the program expired",
  SIGBUS: "invalid memory access, such as a truncated memory-mapped file or a full tmpfs",
  SIGFPE: "an arithmetic error, such as integer division by zero",
  SIGHUP: "its terminal or session was closed",
  SIGILL: "an instruction that this processor does not support",
  SIGINT: "interrupted, as by Ctrl-C",
  SIGKILL: "not sent by Sallyport",
  SIGPIPE: "it wrote to a pipe whose reader had exited",
  SIGQUIT: "interrupted, as by Ctrl-\\",
  SIGSEGV: "invalid memory access, usually a bug in the program or a stack overflow",
  SIGSYS: "it made a system call that the sandbox does not allow",
  SIGTERM: "not sent by Sallyport",
  SIGTRAP: "a breakpoint or a failed runtime check",
  SIGXCPU: "it exceeded its CPU time limit",
  SIGXFSZ: "it exceeded the file size limit",
};

/** Returns the signal with its usual cause: `SIGSEGV (invalid memory access, …)`. Includes peak memory for SIGKILL. */
function signalCause(signal: NodeJS.Signals, usage: ResourceUsage | null): string {
  const cause = USUAL_CAUSE[signal];
  const peak = signal === "SIGKILL" && usage ? `; peak memory use ${formatSize(usage.memoryPeakBytes)}` : "";
  return cause === undefined ? signal : `${signal} (${cause}${peak})`;
}
