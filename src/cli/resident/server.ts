/** The resident gateway: answers command lines that the native client sends, so that no process of Node starts for them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { lstatSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { parentOf } from "../../approval/self-approval.ts";
import { type Caller, findCallersWith } from "../../core/caller.ts";
import { socketAddress } from "../../executor/native/connection.ts";
import type { GatewayContext } from "../../gateway/context.ts";
import { shareGateways } from "../open.ts";
import { answer } from "./answer.ts";
import { ClientConnection } from "./connection.ts";
import { type CallerOptions, ResidentGateway } from "./gateway.ts";
import { isTrustedPeer } from "./peer.ts";
import type { ClientRequest } from "./protocol.ts";

/** The maximum number of clients. Each running foreground command has one. */
const MOST_CLIENTS = 512;
/** The maximum number of bytes of incomplete requests. */
const MOST_PENDING_BYTES = 32 << 20;
const CHECK_EVERY_MS = 5000;

export interface ResidentOptions {
  state: string;
  /** The build that clients must have. */
  build: string;
  /** Reports whether another build has been installed in place of this one. */
  isReplaced: () => boolean;
  idleMs: number;
  /** Called between the steps of a request, for tests. */
  checkpoint: GatewayContext["checkpoint"];
}

export class ResidentServer {
  readonly #gateway: ResidentGateway;
  readonly #options: ResidentOptions;
  readonly #server: Server;
  readonly #callers = new AsyncLocalStorage<Caller & { key: string }>();
  readonly #clients = new Set<ClientConnection>();
  readonly #over = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #inode = 0;
  /** The number of requests being answered, also of clients that are gone. */
  #answering = 0;
  #lastUsed = performance.now();

  private constructor(gateway: ResidentGateway, options: ResidentOptions) {
    this.#gateway = gateway;
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#timer = setInterval(() => this.#check(), Math.min(CHECK_EVERY_MS, options.idleMs / 10));
  }

  /** Opens the gateway and listens. The caller has made sure that no other process serves this build. */
  static async open(options: ResidentOptions): Promise<ResidentServer> {
    const resident = new ResidentServer(await ResidentGateway.open(options.state, options.checkpoint), options);
    findCallersWith(() => resident.#callers.getStore());
    const key = () => resident.#callers.getStore()?.key;
    shareGateways({
      gateway: (options) => {
        const caller = key();
        return caller === undefined ? null : resident.#gateway.gateway({ ...options, key: caller });
      },
      settings: (options) => {
        const caller = key();
        return caller === undefined ? null : resident.#gateway.settings({ ...options, key: caller });
      },
    });
    await resident.#listen();
    return resident;
  }

  get path(): string {
    return join(this.#gateway.state, `resident-${this.#options.build}.sock`);
  }

  /** Resolves when this process has been idle for long enough, or has been replaced. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#ownsSocket()) rmSync(this.path, { force: true });
    this.#server.close();
    for (const client of this.#clients) client.destroy();
    await this.#gateway.close();
  }

  async #listen(): Promise<void> {
    rmSync(this.path, { force: true });
    const { address, close } = socketAddress(this.path);
    const before = process.umask(0o177);
    const ready = new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(address, resolve);
    });
    process.umask(before);
    await ready.finally(close);
    this.#inode = lstatSync(this.path).ino;
  }

  #ownsSocket(): boolean {
    return lstatSync(this.path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  #check(): void {
    const isIdle = this.#answering === 0 && this.#clients.size === 0;
    const isUnused = performance.now() - this.#lastUsed >= this.#options.idleMs;
    if (isIdle && (isUnused || !this.#ownsSocket() || this.#options.isReplaced())) this.#over.resolve();
  }

  #accept(socket: Socket): void {
    const pending = [...this.#clients].reduce((sum, { pendingBytes }) => sum + pendingBytes, 0);
    if (this.#clients.size >= MOST_CLIENTS || pending > MOST_PENDING_BYTES) {
      socket.destroy(); // before `hello`, so the client uses Node
      return;
    }
    const client = new ClientConnection(socket, this.#options.build);
    this.#clients.add(client);
    client.gone.addEventListener("abort", () => {
      this.#clients.delete(client);
      this.#lastUsed = performance.now();
    });
    client.onRequest = (request) => {
      if (request === null || !isTrustedPeer(request.pid, client.challenge)) client.useNode();
      else void this.#answer(client, request);
    };
  }

  /** Best effort: errors are ignored. */
  #clean(caller: CallerOptions): void {
    try {
      this.#gateway.clean(caller);
    } catch {
      // The disk is full, for example. The next command tries again.
    }
  }

  async #answer(client: ClientConnection, request: ClientRequest): Promise<void> {
    const { env, folder, umask } = request;
    this.#answering++;
    try {
      const caller = { env, folder, umask, parent: parentOf(request.pid), key: request.key };
      await this.#callers.run(caller, async () => {
        const resident = this.#gateway;
        let used: { agent: string; workspace: string } | null = null;
        await answer(client, request, {
          state: resident.state,
          gateway: (options) => {
            used = options;
            return resident.gateway({ ...options, key: request.key });
          },
          flush: () => resident.flush(),
        });
        if (used !== null) this.#clean({ ...(used as CallerOptions), key: request.key });
      });
    } catch {
      client.destroy(); // the client finds out with Node what has become of its session
    } finally {
      this.#answering--;
      this.#lastUsed = performance.now();
    }
  }
}
