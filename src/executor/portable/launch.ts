import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs";
import { constants as os } from "node:os";
import { join } from "node:path";
import type { LaunchSpec } from "../../core/launch.ts";
import { bornOf, MARK } from "../process-table.ts";
import type { Root } from "../process-tree.ts";
import { errnoOf, openFolder, StepFailed } from "./launch-paths.ts";
import type { Pipe, PipeStore } from "./pipes.ts";
import { findProgram } from "./program.ts";
import type { Order } from "./request.ts";
import { noteNoTerminal } from "./sizes.ts";
import { attempts, type Spawned, spawnFirst } from "./spawn.ts";
import { type Feed, StreamFeed } from "./stdin.ts";
import { PipeSource, type Source, StreamSource } from "./stdio.ts";
import { onTerminal, type Terminal } from "./terminal.ts";

/** What a running command is to its session, whatever it was started with. */
export interface Running {
  root: Root;
  sources: Source[];
  feed: Feed | null;
  terminal: Terminal | null;
  /** What could not be done as asked: see present/executor-notes.ts. */
  notes: string[];
  /** The main process's end: once. `signal` is 0 when it was none. */
  onExit(listener: (code: number | null, signal: number) => void): void;
}

/** What a command's output and its end are told to. */
export interface Listener {
  took(stream: number, bytes: Uint8Array): void;
  atEnd(): void;
}

const FORK = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]);

/** A given text lies in a file without a name, so that it need not be fed and the command cannot stall on it. */
function textFile(folder: string, text: string): number {
  const path = join(folder, "stdin");
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return openSync(path, "r");
  } catch (error) {
    throw new StepFailed("stdin", errnoOf(error));
  } finally {
    try {
      unlinkSync(path);
    } catch {
      // It could not be made.
    }
  }
}

function takePipes(store: PipeStore, count: number): Pipe[] {
  const pipes: Pipe[] = [];
  try {
    for (let i = 0; i < count; i++) {
      const pipe = store.take();
      if (pipe) pipes.push(pipe);
    }
  } catch (error) {
    for (const { read, write } of pipes) for (const fd of [read, write]) closeSync(fd);
    throw new StepFailed("pipe", errnoOf(error));
  }
  if (pipes.length === count) return pipes;
  for (const { read, write } of pipes) for (const fd of [read, write]) closeSync(fd);
  return [];
}

/** Starts the command, on a terminal if it is to have one and that can be had, else on pipes. Throws `StepFailed`. */
export async function launch(order: Order, folder: string, store: PipeStore, listener: Listener): Promise<Running> {
  const { spec, umask } = order;
  if (spec.pty === null) return onPipes(spec, umask, folder, store, listener);
  const terminal = await onTerminal(spec, umask, folder, listener);
  if (typeof terminal !== "string") return terminal;
  const running = await onPipes(spec, umask, folder, store, listener);
  noteNoTerminal(folder, terminal);
  return running;
}

async function onPipes(
  spec: LaunchSpec,
  umask: number,
  folder: string,
  store: PipeStore,
  listener: Listener,
): Promise<Running> {
  const file = findProgram(spec.file, spec.path);
  if (typeof file === "number") throw new StepFailed("execve", file);
  const place = openFolder(spec);
  const ours: number[] = [];
  const pipes: Pipe[] = [];
  try {
    const stdin = typeof spec.stdin === "object" ? textFile(folder, spec.stdin.text) : null;
    if (stdin !== null) ours.push(stdin);
    pipes.push(...takePipes(store, spec.capture === "merged" ? 1 : 2));
    const [out = "pipe", err = out] = pipes.map(({ write }) => write);
    const options = {
      cwd: place.path,
      env: { ...spec.env, [MARK]: spec.id },
      argv0: spec.argv[0] ?? spec.file,
      stdio: [stdin ?? (spec.stdin === "open" ? "pipe" : "ignore"), out, err] as const,
    };
    const spawned = await masked(umask, () => start(file, spec, options as never));
    return running(spawned, pipes, spec, listener);
  } catch (error) {
    for (const { read } of pipes) closeSync(read);
    throw error;
  } finally {
    for (const fd of [...ours, ...pipes.map(({ write }) => write)]) closeSync(fd);
    place.close();
  }
}

/** The child is made before `act` returns, and it inherits our mask. */
export function masked<T>(umask: number, act: () => T): T {
  const before = process.umask(umask);
  try {
    return act();
  } finally {
    process.umask(before);
  }
}

async function start(file: string, spec: LaunchSpec, options: never): Promise<Spawned> {
  try {
    return await spawnFirst(file, spec.argv.slice(1), attempts(options));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new StepFailed(FORK.has(code) ? "fork" : "execve", errnoOf(error));
  }
}

function running({ child, note, detached }: Spawned, pipes: Pipe[], spec: LaunchSpec, listener: Listener): Running {
  const { took, atEnd } = listener;
  child.on("error", () => {}); // a signal that could not be sent: the one who sends it looks for itself
  const merged = spec.capture === "merged";
  const streams = [child.stdout, child.stderr].flatMap((stream) => stream ?? []);
  const sources =
    pipes.length > 0
      ? pipes.map(({ read }, i) => new PipeSource(read, (bytes) => took(i, bytes), atEnd))
      : streams.map((stream, i) => new StreamSource(stream, (bytes) => took(merged ? 0 : i, bytes), atEnd));
  const notes = [note, pipes.length === 0 && merged ? "merged-late" : null].flatMap((each) => each ?? []);
  const pid = child.pid as number;
  return {
    root: { pid, born: bornOf(pid) ?? "", group: detached },
    sources,
    feed: child.stdin ? new StreamFeed(child.stdin) : null,
    terminal: null,
    notes,
    onExit: (tell) => child.once("exit", (code, signal) => tell(code, signal ? (os.signals[signal] ?? 0) : 0)),
  };
}
