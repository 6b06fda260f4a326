import { LONGEST_TIMEOUT_MS } from "../core/clock.ts";
import { type ErrorType, type Recovery, SallyportError } from "../core/error.ts";
import type { BrokenMasks, ExceededLimit } from "../core/launch.ts";
import { nextStep, operatorStep } from "../core/next-step.ts";
import type { SessionInfo } from "../core/session.ts";
import { brokenMasksText } from "../sandbox/describe.ts";
import { formatSize } from "../text/format.ts";

const LIST = nextStep("list_processes", { name: "list-sessions" });

function checkStatus(name: string): Recovery {
  return nextStep("check_status", { name: "show-session", session: name });
}

export function alreadyExited(name: string): SallyportError {
  return new SallyportError("AlreadyExited", `Session \`${name}\` has already ended.`, [checkStatus(name)]);
}

/** Returns the error for an operation that needs a running command, on a session that is not running. */
export function notRunning({ name, status, error }: Pick<SessionInfo, "name" | "status" | "error">): SallyportError {
  if (error && status === "pending") {
    const message = `Session \`${name}\` has not started. ${error.message}`;
    return new SallyportError("ApprovalPending", message, [...error.recovery]);
  }
  if (error && (status === "blocked" || status === "denied" || status === "failed")) {
    const message = `Session \`${name}\` never started. ${error.message}`;
    return new SallyportError("AlreadyExited", message, [checkStatus(name)]);
  }
  return alreadyExited(name);
}

export function nameInUse(name: string): SallyportError {
  return new SallyportError("NameInUse", `A session named \`${name}\` already exists.`, [
    { action: "choose_name", hint: "Choose another name, or omit it to get a generated one." },
    nextStep("remove_session", { name: "remove-session", session: name }),
  ]);
}

export function gatewayClosed(): SallyportError {
  return new SallyportError("GatewayClosed", "This gateway is closed.", [
    operatorStep("open_gateway", "Open another one with `openGateway()`. Commands that are running keep running."),
  ]);
}

export function stillRunning(name: string): SallyportError {
  return new SallyportError("StillRunning", `Session \`${name}\` is still running.`, [
    nextStep("force_kill", { name: "stop-session", session: name }),
  ]);
}

export function stdinClosed(name: string): SallyportError {
  return new SallyportError("StdinClosed", `Session \`${name}\` does not accept input.`, [
    checkStatus(name),
    nextStep("open_stdin", { name: "open-stdin" }),
  ]);
}

export function notOnTerminal(name: string): SallyportError {
  return new SallyportError("NotOnTerminal", `Session \`${name}\` has no terminal.`, [
    nextStep("use_pty", { name: "use-terminal" }),
    nextStep("write", { name: "write-instead" }),
  ]);
}

export function invalidSize(columns: unknown, rows: unknown, most: number): SallyportError {
  const received = `${String(columns)} columns and ${String(rows)} rows`;
  const message = `A terminal must have 1 to ${most} columns and 1 to ${most} rows; received ${received}.`;
  return new SallyportError("InvalidRequest", message, [
    { action: "use_valid_size", hint: "For example, use `{ columns: 120, rows: 30 }`." },
  ]);
}

export function keeperUnavailable(name: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `The keeper of session \`${name}\` did not respond.`, [
    { action: "retry", hint: "Try again. The keeper may have reached its connection limit." },
    checkStatus(name),
  ]);
}

export function unknownPictureFormat(received: unknown): SallyportError {
  return new SallyportError("InvalidRequest", `\`format\` must be "svg"; received ${JSON.stringify(received)}.`, [
    { action: "use_svg", hint: 'Use `picture("svg")`, or `screen()` for the text.' },
  ]);
}

export function sessionNotFound(reference: string): SallyportError {
  return new SallyportError("SessionNotFound", `No such session: ${JSON.stringify(reference)}.`, [LIST]);
}

export function sessionRemoved(name: string): SallyportError {
  return new SallyportError("SessionNotFound", `Session \`${name}\` has been removed.`, [LIST]);
}

export function ambiguousId(reference: string): SallyportError {
  const message = `${JSON.stringify(reference)} is a prefix of more than one session ID.`;
  return new SallyportError("AmbiguousId", message, [
    { action: "use_longer_prefix", hint: "Use more characters of the ID, or the session's name." },
    LIST,
  ]);
}

interface Exceeded {
  type: SallyportError["type"];
  message: string;
  recovery: Recovery[];
  details: Record<string, unknown>;
}

/** For each limit, its configuration key and how its value is displayed. */
const LIMIT: Record<ExceededLimit["kind"], { key: string; shown: (value: number) => string }> = {
  memory: { key: "memoryBytes", shown: size },
  processes: { key: "processes", shown: (value) => `${value} processes and threads` },
  disk: { key: "diskBytes", shown: size },
  fileSize: { key: "fileSize", shown: size },
};

/** Formats a number of bytes for a sentence, such as `64 MiB`. */
function size(bytes: number): string {
  return formatSize(bytes).replace(/[A-Z]$/, (unit) => (unit === "B" ? " bytes" : ` ${unit}iB`));
}

const OPTIMIZE_HINT: Record<ExceededLimit["kind"], string> = {
  memory: "Reduce memory use: process smaller batches, run fewer parallel workers, or stream files.",
  processes: "Start fewer processes at a time, for example with `make -j2` or a smaller worker pool.",
  disk: "Write less data, or pipe it to the next program instead of storing it.",
  fileSize: "Write smaller files, or split the output into several files.",
};

/** Returns the error of a command that was killed for exceeding a limit, with the limit and the peak usage. */
export function limitExceeded({ kind, value, peak }: ExceededLimit): Exceeded {
  const { key, shown } = LIMIT[kind];
  const reached = peak > 0 ? ` (peak: ${shown(peak)})` : "";
  return {
    type: "ResourceLimitExceeded",
    message: `The command exceeded its ${NAME[kind]} limit of ${shown(value)}${reached}. It was killed with all its processes.`,
    recovery: [
      nextStep("increase_limits", {
        name: "raise-limit",
        key: `limits.${key}`,
        requestable: kind === "memory" || kind === "processes",
      }),
      { action: "optimize", hint: OPTIMIZE_HINT[kind] },
    ],
    details: { limit: key, value, peak: peak > 0 ? peak : null },
  };
}

const NAME: Record<ExceededLimit["kind"], string> = {
  memory: "memory",
  processes: "process",
  disk: "disk",
  fileSize: "file size",
};

/** Returns the warning for a command that exited on its own after some of its descendants had exceeded a limit. */
export function limitWarning({ kind, value }: ExceededLimit): string {
  return `child processes exceeded the ${NAME[kind]} limit of ${LIMIT[kind].shown(value)} and were killed`;
}

/** Returns the error of a command that was killed because a mask broke while it ran. */
export function maskBroken(masks: BrokenMasks): Exceeded {
  return {
    type: "MaskBroken",
    message: `The command was killed with all its processes, because ${brokenMasksText(masks)}.`,
    recovery: [
      {
        action: "inspect",
        hint: "Report this. A person must inspect the path before using git or an editor there, because the command may have read or changed it.",
      },
      { action: "retry", hint: "Then run the command again. The new file is protected from the start." },
    ],
    details: { paths: masks.paths, count: masks.count },
  };
}

/** Returns the error for a session that has ended without an exit record. */
export function sessionLost(): { type: ErrorType; message: string; recovery: Recovery[] } {
  return {
    type: "SessionLost",
    message: "The command ended because its keeper was killed or the machine went down. The exit code is unknown.",
    recovery: [
      nextStep("check_logs", { name: "read-output" }),
      { action: "retry", hint: "Run the command again if that is safe." },
    ],
  };
}

/** Throws unless `value` is a duration that the keeper can represent. */
export function assertMilliseconds(option: string, value: unknown, hint: string): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMEOUT_MS) return;
  const message = `\`${option}\` must be an integer number of milliseconds from 0 to ${LONGEST_TIMEOUT_MS}; received ${String(value)}.`;
  throw new SallyportError("InvalidRequest", message, [{ action: "fix_request", hint }]);
}
