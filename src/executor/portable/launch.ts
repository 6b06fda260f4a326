import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { constants as os } from "node:os";
import { join } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import type { TreeRoot } from "../processes.ts";
import { SESSION_VARIABLE, startTimeOf } from "../processes.ts";
import { errnoOf, findProgram, LaunchStepError, openWorkingDirectory, step, withUmask } from "./launch-paths.ts";
import type { LaunchRequest } from "./request.ts";
import { type Output, PipeOutput, type PipePool, type Stdin, StreamStdin } from "./stdio.ts";
import { loadPty, type Pty, PtyOutput, recordNoTerminal, Terminal, TerminalResponder } from "./terminal.ts";

export interface RunningCommand {
  root: TreeRoot;
  outputs: Output[];
  stdin: Stdin | null;
  /** The terminal, which is also `stdin`. Null if the command runs on pipes. */
  terminal: Terminal | null;
  /** Calls `listener` once, when the main process has ended. `signal` is 0 if no signal ended it. */
  onExit(listener: (code: number | null, signal: number) => void): void;
}

interface OutputListener {
  onOutput(stream: number, bytes: Uint8Array): void;
  /** Called when an output has ended. */
  onEnd(): void;
}

const FORK_ERRORS = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]);

/** Starts a command on a terminal, if one is requested and available, or on pipes. Throws `LaunchStepError`. */
export async function launch(
  request: LaunchRequest,
  folder: string,
  pipes: PipePool,
  listener: OutputListener,
): Promise<RunningCommand> {
  const { spec } = request;
  const file = findProgram(spec.file, spec.path);
  const directory = openWorkingDirectory(spec);
  const onPipes = () => launchOnPipes(request, file, directory.path, folder, pipes, listener);
  try {
    if (spec.pty === null) return await onPipes();
    const running = await launchOnTerminal(request, file, spec.pty, folder, listener);
    if (typeof running !== "string") return running;
    const withoutTerminal = await onPipes();
    recordNoTerminal(folder, running);
    return withoutTerminal;
  } finally {
    directory.close();
  }
}

async function launchOnPipes(
  { spec, umask }: LaunchRequest,
  file: string,
  cwd: string,
  folder: string,
  pipes: PipePool,
  listener: OutputListener,
): Promise<RunningCommand> {
  const outputPipes = pipes.take(spec.capture === "merged" ? 1 : 2);
  let text: number | null = null;
  try {
    text = typeof spec.stdin === "object" ? openText(folder, spec.stdin.text) : null;
    const [out, err = out] = outputPipes.map(({ write }) => write);
    const stdin = text ?? (spec.stdin === "open" ? ("pipe" as const) : ("ignore" as const));
    const options = { cwd, env: environment(spec), argv0: spec.argv[0] ?? spec.file, detached: true };
    const child = withUmask(umask, () => spawn(file, spec.argv.slice(1), { ...options, stdio: [stdin, out, err] }));
    if (child.pid === undefined) throw (await once(child, "error"))[0];
    const outputs = outputPipes.map(
      ({ read }, i) => new PipeOutput(read, (bytes) => listener.onOutput(i, bytes), listener.onEnd),
    );
    child.on("error", () => {}); // an error without a listener would end the keeper
    return {
      root: rootOf(child.pid),
      outputs,
      stdin: child.stdin ? new StreamStdin(child.stdin) : null,
      terminal: null,
      onExit: (tell) => child.once("exit", (code, signal) => tell(code, signal ? (os.signals[signal] ?? 0) : 0)),
    };
  } catch (error) {
    for (const { read } of outputPipes) closeSync(read);
    if (error instanceof LaunchStepError) throw error;
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new LaunchStepError(FORK_ERRORS.has(code) ? "fork" : "execve", errnoOf(error));
  } finally {
    for (const { write } of outputPipes) closeSync(write);
    if (text !== null) closeSync(text);
  }
}

/** Starts a command on a terminal. Resolves with the name of the failed step if none is available. */
async function launchOnTerminal(
  { spec, umask }: LaunchRequest,
  file: string,
  size: TerminalSize,
  folder: string,
  listener: OutputListener,
): Promise<RunningCommand | string> {
  let terminal: Terminal | null = null;
  let responder: TerminalResponder;
  let pty: Pty;
  try {
    responder = await TerminalResponder.open(size, (text) => terminal?.respond(text));
    const { spawn: spawnPty } = await loadPty();
    const window = { cols: size.columns, rows: size.rows, encoding: null, name: spec.env.TERM };
    const options = { cwd: spec.cwd, env: environment(spec), ...window };
    pty = withUmask(umask, () => spawnPty(file, spec.argv.slice(1), options));
  } catch (error) {
    return /MODULE_NOT_FOUND/.test((error as NodeJS.ErrnoException).code ?? "") ? "module" : "open";
  }
  terminal = new Terminal(pty, size, folder, responder);
  const output = new PtyOutput(pty, listener.onEnd, (bytes) => {
    listener.onOutput(0, bytes);
    responder.read(bytes);
  });
  return {
    root: rootOf(pty.pid),
    outputs: [output],
    stdin: terminal,
    terminal,
    onExit: (tell) =>
      pty.onExit(({ exitCode, signal = 0 }) => {
        output.close();
        tell(signal > 0 ? null : exitCode, signal);
      }),
  };
}

function rootOf(pid: number): TreeRoot {
  return { pid, born: startTimeOf(pid) ?? "" };
}

function environment({ env, id }: LaunchSpec): Record<string, string> {
  return { ...env, [SESSION_VARIABLE]: id };
}

/** Writes stdin text to an unlinked file, so that it need not be fed to the command while it runs. */
function openText(folder: string, text: string): number {
  const path = join(folder, "stdin");
  return step("stdin", () => {
    try {
      writeFileSync(path, text, { mode: 0o600, flag: "wx" });
      return openSync(path, "r");
    } finally {
      rmSync(path, { force: true });
    }
  });
}
