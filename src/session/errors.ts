import { LONGEST_TIMEOUT_MS } from "../core/clock.ts";
import { type ErrorType, type Recovery, SallyportError } from "../core/error.ts";
import type { ExceededLimit } from "../core/launch.ts";
import { formatSize } from "../text/format.ts";

const LIST = { action: "list_processes", hint: "`sallyport ps -a` lists all sessions." };
const CHECK_STATUS = { action: "check_status", hint: "`sallyport inspect` shows its final state and exit code." };

export function alreadyExited(name: string): SallyportError {
  return new SallyportError("AlreadyExited", `The session ${name} has already ended.`, [CHECK_STATUS]);
}

export function nameInUse(name: string): SallyportError {
  return new SallyportError("NameInUse", `There is a session named ${JSON.stringify(name)} already.`, [
    { action: "choose_name", hint: "Choose another name, or leave it out." },
    { action: "remove_session", hint: `Or remove the old one: sallyport rm ${name}` },
  ]);
}

export function gatewayClosed(): SallyportError {
  return new SallyportError("GatewayClosed", "This gateway has been closed.", [
    {
      action: "open_gateway",
      hint: "Open another one: openGateway(). Its commands and their sessions go on meanwhile.",
    },
  ]);
}

export function stillRunning(name: string): SallyportError {
  return new SallyportError("StillRunning", `The session ${name} is still running.`, [
    { action: "force_kill", hint: "End it first (`sallyport kill`), or remove it with force." },
  ]);
}

export function stdinClosed(name: string): SallyportError {
  return new SallyportError("StdinClosed", `The session ${name} does not read input (any more).`, [
    CHECK_STATUS,
    { action: "open_stdin", hint: 'Only a session started with stdin "open" (`run -i`) can be written to.' },
  ]);
}

export function notOnTerminal(name: string): SallyportError {
  return new SallyportError("NotOnTerminal", `The session ${name} is not on a terminal.`, [
    { action: "use_pty", hint: "Start it with `pty: true` (`run -t`); `warnings` tells if none could be had." },
    { action: "write", hint: "On pipes a session that was started with stdin `open` takes plain `write`." },
  ]);
}

export function invalidSize(columns: unknown, rows: unknown, most: number): SallyportError {
  const message = `A terminal has 1 to ${most} columns and rows; received ${String(columns)} and ${String(rows)}.`;
  return new SallyportError("InvalidRequest", message, [
    { action: "use_valid_size", hint: "For example { columns: 120, rows: 30 }." },
  ]);
}

export function keeperUnavailable(name: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `The keeper of the session ${name} does not answer.`, [
    { action: "retry", hint: "Try again: it may have too many callers at this moment." },
    CHECK_STATUS,
  ]);
}

export function unknownPictureFormat(received: unknown): SallyportError {
  return new SallyportError("InvalidRequest", `\`format\` must be "svg"; received ${JSON.stringify(received)}.`, [
    { action: "use_svg", hint: 'Use picture("svg"), or screen() for the text.' },
  ]);
}

export function sessionNotFound(reference: string): SallyportError {
  return new SallyportError("SessionNotFound", `There is no session ${JSON.stringify(reference)}.`, [LIST]);
}

export function sessionRemoved(name: string): SallyportError {
  return new SallyportError("SessionNotFound", `The session ${name} has been removed.`, [LIST]);
}

export function ambiguousId(reference: string): SallyportError {
  const message = `${JSON.stringify(reference)} is the beginning of several ids.`;
  return new SallyportError("AmbiguousId", message, [
    { action: "use_longer_prefix", hint: "Give more of the id, or the session's name." },
    LIST,
  ]);
}

interface Exceeded {
  type: SallyportError["type"];
  message: string;
  recovery: Recovery[];
  details: Record<string, unknown>;
}

/** The setting's name, and its value as people say it. */
const LIMIT: Record<ExceededLimit["kind"], { key: string; shown: (value: number) => string }> = {
  memory: { key: "memoryBytes", shown: formatSize },
  processes: { key: "processes", shown: (value) => `${value} processes and threads` },
  disk: { key: "diskBytes", shown: (value) => `${formatSize(value)} written` },
  fileSize: { key: "fileSize", shown: (value) => `${formatSize(value)} a file` },
};

const OPTIMIZE_HINT: Record<ExceededLimit["kind"], string> = {
  memory: "Make it use less memory: smaller batches, fewer workers at a time, streams instead of whole files.",
  processes: "Make it start fewer processes at a time, such as `make -j2` or a smaller pool of workers.",
  disk: "Make it write less, or to where nothing is kept: pipe it on instead of storing it.",
  fileSize: "Make it write smaller files, or split what it writes.",
};

/** Which limit ended a command, what it was and how far the command got. */
export function limitExceeded({ kind, value, peak }: ExceededLimit): Exceeded {
  const { key, shown } = LIMIT[kind];
  const reached = peak > 0 ? `; it got to ${shown(peak)}` : "";
  return {
    type: "ResourceLimitExceeded",
    message: `It exceeded its ${NAME[kind]} limit of ${shown(value)}${reached}, so it was ended with everything it had started.`,
    recovery: [
      { action: "increase_limits", hint: increaseHint(kind, key) },
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

function increaseHint(kind: ExceededLimit["kind"], key: string): string {
  const byOperator = `the operator can raise \`limits.${key}\` in sallyport.json.`;
  if (kind === "disk" || kind === "fileSize") return `If it needs more, ${byOperator}`;
  return `Ask for more, up to what is configured; ${byOperator}`;
}

/** A part of the tree met the limit, but the command itself ended by itself. */
export function limitWarning({ kind, value }: ExceededLimit): string {
  return `processes it started exceeded the ${NAME[kind]} limit of ${LIMIT[kind].shown(value)} and were ended`;
}

/** The keeper died and took the command with it: nobody knows how far it got. */
export function sessionLost(): { type: ErrorType; message: string; recovery: Recovery[] } {
  return {
    type: "SessionLost",
    message: "The command's keeper was killed and the command with it; how far it got is not known.",
    recovery: [
      { action: "check_logs", hint: "Its output up to then is in the session's logs." },
      { action: "retry", hint: "Run it again if that is safe." },
    ],
  };
}

/** Refuses what is not a time: it would reach the keeper as something else, or not at all. */
export function assertMilliseconds(option: string, value: unknown, hint: string): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TIMEOUT_MS) return;
  const message = `\`${option}\` must be a whole number of milliseconds from 0 to ${LONGEST_TIMEOUT_MS}; received ${String(value)}.`;
  throw new SallyportError("InvalidRequest", message, [{ action: "fix_request", hint }]);
}
