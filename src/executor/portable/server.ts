import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { socketAddress } from "../native/connection.ts";
import { ProcessTree } from "../processes.ts";
import { isOwnerAlive, readOwner } from "../session-owner.ts";
import { Client } from "./client.ts";
import { buildId, socketPath } from "./connect.ts";
import type { Session } from "./session.ts";
import { PipePool } from "./stdio.ts";

const CHECK_EVERY_MS = 2000;
const IDLE_TIMEOUT_MS = 15 * 60 * 1000;
const SIGKILL = 9;

/** The portable keeper of one state folder, with its sessions and the connected gateways. */
export class Server {
  readonly build = buildId();
  readonly pipes: PipePool;
  readonly #state: string;
  #stopListening = () => {};
  #socketInode = 0;
  #sessions = new Set<Session>();
  #clients = new Set<Client>();
  #stopping = false;
  #lastActive = performance.now();

  constructor(state: string) {
    this.#state = state;
    this.pipes = new PipePool(state);
  }

  folder(id: string): string {
    return join(this.#state, "sessions", id);
  }

  /** Starts listening. Resolves with false if another keeper serves this state folder. */
  async start(): Promise<boolean> {
    const path = socketPath(this.#state);
    if (await isListening(path)) return false;
    mkdirSync(join(this.#state, "sessions"), { recursive: true, mode: 0o700 });
    // Of two keepers that start at once, the later one takes over the path, and the other stops when it detects that.
    const ownPath = `${path}.${process.pid}`;
    this.#stopListening = await this.listen(ownPath, null);
    renameSync(ownPath, path);
    this.#socketInode = lstatSync(path).ino;
    this.#killOrphans();
    setInterval(() => this.#stopIfUnused(), CHECK_EVERY_MS).unref();
    return true;
  }

  /**
   * Accepts gateways for new commands or, with a session, for that one. Resolves with a function that stops listening.
   */
  listen(path: string, session: Session | null): Promise<() => void> {
    const { address, close } = socketAddress(path);
    const server = createServer((socket) => this.#clients.add(new Client(socket, this, session)));
    return new Promise((resolve, reject) => {
      server.once("error", (error) => {
        close();
        reject(error);
      });
      server.listen(address, () =>
        resolve(() => {
          server.close(); // unlinks the address, which must be valid until then
          close();
        }),
      );
    });
  }

  removeClient(client: Client): void {
    this.#clients.delete(client);
    this.#lastActive = performance.now();
  }

  addSession(session: Session): void {
    this.#sessions.add(session);
  }

  removeSession(session: Session): void {
    this.#sessions.delete(session);
    this.#lastActive = performance.now();
    if (this.#stopping && this.#sessions.size === 0) process.exit(0);
  }

  /** Stops listening, so that another keeper can take over, and exits when the last session has ended. */
  stop(): void {
    if (!this.#stopping) this.#stopListening();
    this.#stopping = true;
    if (this.#sessions.size === 0) process.exit(0);
  }

  #stopIfUnused(): void {
    const isReplaced = lstatSync(socketPath(this.#state), { throwIfNoEntry: false })?.ino !== this.#socketInode;
    const isIdle = this.#sessions.size === 0 && this.#clients.size === 0;
    if (isReplaced || (isIdle && performance.now() - this.#lastActive > IDLE_TIMEOUT_MS)) this.stop();
  }

  /** Kills the processes of sessions whose keeper was killed, because they no longer have a deadline (invariant 5). */
  #killOrphans(): void {
    for (const id of readdirSync(join(this.#state, "sessions"))) {
      const folder = this.folder(id);
      const owner = readOwner(folder);
      if (!owner?.main || hasEnded(folder) || isOwnerAlive(owner)) continue;
      new ProcessTree(owner.main, id).signal(SIGKILL);
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

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
