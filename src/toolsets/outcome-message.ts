import type { Recovery } from "../core/error.ts";
import type { ResourceUsage, RunResult } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import { sessionLost } from "../session/errors.ts";
import { signalName } from "../session/signals.ts";
import { counted, formatDuration, formatSize } from "../text/format.ts";

type Outcome = RunResult | SessionInfo;

/**
 * How a command ended and what to do about it, in one or two sentences for a model or a person. Null: it succeeded, or
 * is still running. `timeoutMs` is the deadline that was given; a session knows its own.
 *
 * Only the first cause that applies is named, in this order: blocked, denied, waiting for approval, timeout, killed,
 * then a failure of the command's start, its keeper or its limits, signal, exit code. An earlier cause explains the
 * later ones: a command that timed out was ended by a signal, too.
 *
 * @example
 * outcomeMessage(await gateway.run({ command: "make" })); // "Exit code 2; stderr says why."
 */
export function outcomeMessage(outcome: Outcome, timeoutMs?: number): string | null {
  const hints = outcome.hints.map((hint) => `${hint[0]?.toUpperCase()}${hint.slice(1)}.`);
  const parts = [causeMessage(outcome, timeoutMs), leftoverMessage(outcome), ...hints].filter((part) => part !== null);
  return parts.length > 0 ? parts.join(" ") : null;
}

function causeMessage(outcome: Outcome, timeoutMs: number | undefined): string | null {
  const { status, error, signal } = outcome;
  if (status === "running") return null;
  if (status === "timed_out") return timeoutMessage(outcome, timeoutMs);
  if (status === "lost") return failureMessage(error ?? sessionLost());
  if (error) return failureMessage(error);
  if (status in UNSTARTED) return UNSTARTED[status as keyof typeof UNSTARTED];
  if (status === "killed") return killedMessage(outcome);
  return signal ? `Ended by ${signalCause(signal, outcome.resourceUsage)}.` : exitCodeMessage(outcome);
}

/** The error's message and its first recovery hint. */
function failureMessage({ message, recovery }: { message: string; recovery: readonly Recovery[] }): string {
  const [first] = recovery;
  return first === undefined ? sentence(message) : `${sentence(message)} ${sentence(first.hint)}`;
}

/** Adds a full stop, unless the text ends with another mark. */
function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]["'`)\]]?$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

const UNSTARTED = {
  blocked: "Blocked. No approval lifts this: report it instead of looking for a way round.",
  denied: "Denied. Ask the operator to allow it, or reach the goal another way.",
  pending: "Waiting for approval; nothing has run yet. A person decides: wait for it, do not submit it again.",
} as const;

function timeoutMessage(outcome: Outcome, timeoutMs: number | undefined): string {
  const deadline = timeoutMs ?? ("timeoutMs" in outcome ? outcome.timeoutMs : outcome.durationMs);
  return (
    `Timed out after ${formatDuration(deadline)} and was ended with all it had started; its output so far is kept. ` +
    "Run it again with a longer timeout, or in the background."
  );
}

function killedMessage({ signal, exitCode }: Outcome): string {
  const how = signal ? ` with ${signal}` : exitCode === null ? "" : ` and exited with code ${exitCode}`;
  return `Ended on request${how}; its output so far is kept.`;
}

/** Processes that outlived the command. */
function leftoverMessage(outcome: Outcome): string | null {
  if (outcome.status !== "completed") return null;
  if ("lingering" in outcome && outcome.background) {
    return outcome.lingering ? "Processes it started live on; kill the session to end them." : null;
  }
  if (outcome.leftover === 0) return null;
  const were = outcome.leftover === 1 ? "was" : "were";
  return `${counted(outcome.leftover, "process", "processes")} it left running ${were} ended; use the background for what should live on.`;
}

const SHELL_SIGNAL = 128;
const LAST_SIGNAL = 64;
/** Exit codes to which bash and its helpers give a meaning. */
const EXIT_CODES: Record<number, string> = {
  124: "the command `timeout` ended what it ran",
  125: "a command that runs another (`timeout`, `docker run`) failed itself",
  126: "the shell found a command but could not execute it",
  127: "the shell did not find a command",
};

/** Null for 0. */
function exitCodeMessage(outcome: Outcome): string | null {
  const { exitCode } = outcome;
  if (exitCode === null || exitCode === 0) return null;
  const meaning = EXIT_CODES[exitCode];
  const where = stderrNote(outcome);
  if (meaning !== undefined) return `Exit code ${exitCode}: ${meaning}; ${where}.`;
  const signal = exitCode > SHELL_SIGNAL && exitCode <= SHELL_SIGNAL + LAST_SIGNAL ? exitCode - SHELL_SIGNAL : 0;
  const name = signalName(signal);
  if (name === null) return `Exit code ${exitCode}; ${where}.`;
  return `Exit code ${exitCode}: if from a shell, a command in it was ended by ${signalCause(name, outcome.resourceUsage)}.`;
}

/** Says where to look for the reason. */
function stderrNote(outcome: Outcome): string {
  if ("stderr" in outcome) {
    if (outcome.stderr !== "") return "stderr says why";
    return outcome.output === "" ? "it wrote nothing" : "nothing is on stderr, the output may say why";
  }
  return Object.values(outcome.streams).some((stream) => stream.bytes > 0) ? "its log may say why" : "it wrote nothing";
}

/** The usual cause of a signal that Sallyport did not send. */
const USUAL_CAUSE: Partial<Record<NodeJS.Signals, string>> = {
  SIGABRT: "it aborted itself, usually on a failed assertion or a corrupted heap",
  SIGALRM: "a timer it had set ran out",
  SIGBUS: "it used memory that is not there, such as a mapped file that was cut or a full tmpfs",
  SIGFPE: "an arithmetic error such as an integer division by zero",
  SIGHUP: "its terminal or session was closed",
  SIGILL: "an instruction this processor does not have: perhaps built for another one",
  SIGINT: "something interrupted it, as Ctrl-C does",
  SIGKILL: "something other than Sallyport killed it, possibly the kernel for want of memory",
  SIGPIPE: "it wrote to a pipe that nobody reads any more",
  SIGQUIT: "something asked it to quit, as Ctrl-\\ does",
  SIGSEGV: "it used memory it may not use, usually a bug in the program or a stack overflow",
  SIGSYS: "it made a system call that the sandbox does not allow",
  SIGTERM: "something other than Sallyport asked it to end",
  SIGTRAP: "it stopped at a breakpoint or a failed check of its runtime",
  SIGXCPU: "it used up its processor time",
  SIGXFSZ: "it wrote a file larger than allowed",
};

/** `SIGSEGV: it used memory…`; with the memory used where that may be the cause. */
function signalCause(signal: NodeJS.Signals, usage: ResourceUsage | null): string {
  const cause = USUAL_CAUSE[signal];
  const peak = signal === "SIGKILL" && usage ? ` (it had used up to ${formatSize(usage.memoryPeakBytes)})` : "";
  return cause === undefined ? signal : `${signal}: ${cause}${peak}`;
}
