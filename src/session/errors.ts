import { SallyportError } from "../core/error.ts";

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

export function noSuchSize(columns: unknown, rows: unknown, most: number): SallyportError {
  const message = `A terminal has 1 to ${most} columns and rows; received ${String(columns)} and ${String(rows)}.`;
  return new SallyportError("InvalidRequest", message, [
    { action: "use_valid_size", hint: "For example { columns: 120, rows: 30 }." },
  ]);
}

export function keeperSilent(name: string): SallyportError {
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
