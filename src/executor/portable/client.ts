import type { Socket } from "node:net";
import type { KillRequest } from "../execution.ts";
import { RUN_FRAME_MAX, TYPE } from "../native/frames.ts";
import { decodeRun, InvalidRequest } from "./request.ts";
import { Session, type SessionServer } from "./session.ts";

const CONTROL_FRAME_MAX = 256 << 10;
/** The maximum size of unread events in bytes. A gateway that exceeds it is disconnected and can reconnect. */
const UNREAD_MAX = 1 << 20;

interface ClientServer extends SessionServer {
  readonly build: string;
  removeClient(client: Client): void;
}

/** A connection of a gateway, which launches commands one after another or is attached to one session. */
export class Client {
  readonly #socket: Socket;
  readonly #server: ClientServer;
  /** Whether the gateway connected to the socket of one session. The connection is then closed with the session. */
  readonly #isAttached: boolean;
  #session: Session | null;
  #chunks: Buffer[] = [];
  #received = 0;
  #handling: Promise<void> = Promise.resolve();
  watching = false;

  constructor(socket: Socket, server: ClientServer, session: Session | null) {
    this.#socket = socket;
    this.#server = server;
    this.#session = session;
    this.#isAttached = session !== null;
    session?.clients.add(this);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#session?.clients.delete(this);
      server.removeClient(this);
    });
    this.send({ ev: "hello", v: 1, build: server.build, pid: process.pid, id: session?.id ?? "" });
  }

  send(event: object): void {
    if (this.#socket.writableLength > UNREAD_MAX) this.#socket.destroy();
    else this.#socket.write(`${JSON.stringify(event)}\n`);
  }

  /** Handles the end of the session and of all its processes. */
  sessionEnded(): void {
    this.#session = null;
    this.watching = false;
    if (this.#isAttached) this.#socket.end();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    while (this.#received >= 5) {
      const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
      this.#chunks = [bytes];
      const length = bytes.readUInt32LE(0);
      const type = bytes[4] as number;
      if (length < 1 || length > (type === TYPE.run ? RUN_FRAME_MAX : CONTROL_FRAME_MAX)) {
        this.#socket.destroy();
        return;
      }
      if (this.#received < 4 + length) return;
      const payload = bytes.subarray(5, 4 + length);
      this.#chunks = [bytes.subarray(4 + length)];
      this.#received -= 4 + length;
      // Frames are handled one after another, so that replies are in their order.
      this.#handling = this.#handling.then(() => this.#handle(type, payload)).catch(() => void this.#socket.destroy());
    }
  }

  async #handle(type: number, payload: Buffer): Promise<void> {
    if (type === TYPE.run && this.#session === null && !this.#isAttached) return this.#run(payload);
    const session = this.#session;
    this.send({ ev: "re", ...(session ? await this.#reply(session, type, payload) : rejected("ended")) });
  }

  async #run(payload: Buffer): Promise<void> {
    try {
      const session = new Session(this.#server, decodeRun(payload));
      this.#session = session;
      session.clients.add(this);
      this.#server.addSession(session);
      await session.start();
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error;
      this.send({ ev: "refused", why: error.message });
    }
  }

  async #reply(session: Session, type: number, payload: Buffer): Promise<object> {
    const { running, shutdown } = session;
    if (!running || !shutdown) return rejected("ended");
    switch (type) {
      case TYPE.write: {
        const hidden = running.terminal?.hidesInput ?? false;
        const taken = (await running.stdin?.write(payload)) ?? null;
        return taken === null ? rejected("closed") : { ok: true, taken, hidden };
      }
      case TYPE.closeStdin:
        running.stdin?.finish();
        return { ok: true };
      case TYPE.signal:
        return payload.length === 11 ? { ok: shutdown.kill(decodeKill(payload)) } : rejected("malformed");
      case TYPE.deadline:
        return payload.length === 8
          ? { ok: shutdown.setDeadline(Number(payload.readBigInt64LE())) }
          : rejected("malformed");
      case TYPE.watch:
        this.watching = true;
        return { ok: true };
      case TYPE.detach:
        shutdown.toBackground();
        return { ok: true };
      case TYPE.stat:
        return { ok: true, pid: running.root.pid, stdinOpen: running.stdin?.isOpen ?? false, bytes: session.bytes };
      case TYPE.resize: {
        if (payload.length !== 4) return rejected("malformed");
        const size = { columns: payload.readUInt16LE(0), rows: payload.readUInt16LE(2) };
        const ok = running.terminal?.resize(size, session.bytes[0] ?? 0);
        return ok ? { ok } : rejected(running.terminal ? "invalid size" : "no terminal");
      }
      case TYPE.inputState:
        if (!running.terminal) return rejected("no terminal");
        return { ok: true, ...running.terminal.inputState(), bytes: session.bytes[0] ?? 0 };
      default:
        return rejected(type === TYPE.run ? "busy" : "unknown frame");
    }
  }
}

function rejected(why: string): object {
  return { ok: false, why };
}

function decodeKill(payload: Buffer): KillRequest {
  const grace = Number(payload.readBigInt64LE(3));
  return {
    signal: payload[0] as number,
    scope: payload[1] ? "tree" : "main",
    ends: payload[2] === 1,
    graceMs: grace < 0 ? null : grace,
  };
}
