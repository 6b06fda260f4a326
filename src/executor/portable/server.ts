import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Tree } from "../process-tree.ts";
import { isKept, readOwner } from "../session-owner.ts";
import { Caller } from "./client.ts";
import { type Listening, listenAt } from "./listen.ts";
import { PipeStore } from "./pipes.ts";
import type { Session } from "./session.ts";
import { buildId, doorPath } from "./socket-path.ts";

const LOOK_AROUND_MS = 2000;
const IDLE_FOR_MS = 15 * 60 * 1000;
const SIGKILL = 9;

/** All that one portable keeper has: the commands of a state folder, and the gateways that are connected. */
export class House {
  readonly build = buildId();
  readonly pipes: PipeStore;
  readonly #state: string;
  #door: Listening | null = null;
  #inode = 0;
  #sessions = new Set<Session>();
  #callers = new Set<Caller>();
  #turns: Promise<void> = Promise.resolve();
  #leaving = false;
  #lastBusy = performance.now();

  constructor(state: string) {
    this.#state = state;
    this.pipes = new PipeStore(state);
  }

  folder(id: string): string {
    return join(this.#state, "sessions", id);
  }

  /** False: another serves this folder already. */
  async open(): Promise<boolean> {
    const path = doorPath(this.#state);
    if (await answers(path)) return false;
    mkdirSync(join(this.#state, "sessions"), { recursive: true, mode: 0o700 });
    // Of two that start at once the later one takes the name over, and the other leaves when it is idle.
    const own = process.platform === "win32" ? path : `${path}.${process.pid}`;
    this.#door = await listenAt(own, (socket) => this.welcome(socket, null));
    if (own !== path) {
      renameSync(own, path);
      this.#inode = lstatSync(path).ino;
    }
    this.#sweep();
    setInterval(() => this.#lookAround(), LOOK_AROUND_MS).unref();
    return true;
  }

  welcome(socket: Socket, session: Session | null): void {
    this.#callers.add(new Caller(socket, this, session));
  }

  left(caller: Caller): void {
    this.#callers.delete(caller);
    this.#lastBusy = performance.now();
  }

  /** One command is started in a turn of the loop: starting takes long, and those who knock must not wait for all. */
  took(session: Session): Promise<void> {
    this.#sessions.add(session);
    this.#turns = this.#turns.then(() => new Promise((resolve) => setImmediate(resolve)));
    return this.#turns;
  }

  over(session: Session): void {
    this.#sessions.delete(session);
    this.#lastBusy = performance.now();
    if (this.#leaving && this.#sessions.size === 0) process.exit(0);
  }

  /** Another may take over from here on; this one stays for as long as it has commands. */
  leave(): void {
    if (!this.#leaving) this.#door?.close();
    this.#leaving = true;
    if (this.#sessions.size === 0) process.exit(0);
  }

  #lookAround(): void {
    const idle = this.#sessions.size === 0 && this.#callers.size === 0;
    if (this.#isReplaced() || (idle && performance.now() - this.#lastBusy > IDLE_FOR_MS)) this.leave();
  }

  #isReplaced(): boolean {
    if (process.platform === "win32") return !exists(this.#state);
    return lstatSync(doorPath(this.#state), { throwIfNoEntry: false })?.ino !== this.#inode;
  }

  /** Ends what a keeper that is gone has left running: nobody captures it any more, or keeps its deadline (promise 5). */
  #sweep(): void {
    for (const id of readdirSync(join(this.#state, "sessions"))) {
      const folder = this.folder(id);
      const owner = readOwner(folder);
      if (!owner?.main || hasEnded(folder) || isKept(owner)) continue;
      new Tree(owner.main, id).signal(SIGKILL);
    }
  }
}

function hasEnded(folder: string): boolean {
  try {
    return (JSON.parse(readFileSync(join(folder, "exit"), "utf8")) as { final?: boolean }).final === true;
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Whether somebody listens there. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
