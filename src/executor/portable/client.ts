import type { Socket } from "node:net";
import { RUN_FRAME_MAX, TYPE } from "../native/frames.ts";
import { decodeRun, Unsound } from "./request.ts";
import type { House } from "./server.ts";
import { Session } from "./session.ts";

const CONTROL_FRAME_MAX = 256 << 10;
/** One that does not read what it is told is let go; it can come back. */
const UNREAD_MOST = 1 << 20;

/** One connection of a gateway. It brings commands one after the other, or came to one that runs. */
export class Caller {
  readonly #socket: Socket;
  readonly #house: House;
  /** Came through a session's own door, and goes with it. */
  readonly #visits: boolean;
  #session: Session | null;
  #rest: Buffer[] = [];
  #have = 0;
  #serving: Promise<void> = Promise.resolve();
  watching = false;

  constructor(socket: Socket, house: House, session: Session | null) {
    this.#socket = socket;
    this.#house = house;
    this.#session = session;
    this.#visits = session !== null;
    session?.join(this);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#session?.leave(this);
      house.left(this);
    });
    this.tell({ ev: "hello", v: 1, build: house.build, pid: process.pid, id: session?.id ?? "" });
  }

  tell(event: object): void {
    if (this.#socket.writableLength > UNREAD_MOST) this.#socket.destroy();
    else this.#socket.write(`${JSON.stringify(event)}\n`);
  }

  /** Its command has ended for good. */
  done(): void {
    this.#session = null;
    this.watching = false;
    if (this.#visits) this.#socket.end();
  }

  #take(chunk: Buffer): void {
    this.#rest.push(chunk);
    this.#have += chunk.length;
    while (this.#have >= 5) {
      const bytes = this.#rest.length === 1 ? (this.#rest[0] as Buffer) : Buffer.concat(this.#rest);
      this.#rest = [bytes];
      const length = bytes.readUInt32LE(0);
      const type = bytes[4] as number;
      if (length < 1 || length > (type === TYPE.run ? RUN_FRAME_MAX : CONTROL_FRAME_MAX)) {
        this.#socket.destroy();
        return;
      }
      if (this.#have < 4 + length) return;
      const payload = bytes.subarray(5, 4 + length);
      this.#rest = [bytes.subarray(4 + length)];
      this.#have -= 4 + length;
      // One after the other: every frame is answered by one line, in order.
      this.#serving = this.#serving.then(() => this.#serve(type, payload)).catch(() => void this.#socket.destroy());
    }
  }

  async #serve(type: number, payload: Buffer): Promise<void> {
    if (type === TYPE.run && this.#session === null && !this.#visits) return this.#run(payload);
    const session = this.#session;
    this.tell({ ev: "re", ...(session ? await this.#answer(session, type, payload) : refusal("ended")) });
  }

  async #run(payload: Buffer): Promise<void> {
    try {
      const session = new Session(this.#house, decodeRun(payload));
      this.#session = session;
      session.join(this);
      await this.#house.took(session);
      await session.begin();
    } catch (error) {
      if (!(error instanceof Unsound)) throw error;
      this.tell({ ev: "refused", why: error.message });
    }
  }

  async #answer(session: Session, type: number, payload: Buffer): Promise<object> {
    const { running, ending } = session;
    if (!running || !ending) return refusal("ended");
    switch (type) {
      case TYPE.write: {
        const hidden = running.terminal?.hides ?? false;
        const taken = (await running.feed?.write(payload)) ?? null;
        return taken === null ? refusal("closed") : { ok: true, taken, hidden };
      }
      case TYPE.closeStdin:
        running.feed?.finish();
        return { ok: true };
      case TYPE.signal:
        return payload.length === 11 ? { ok: ending.kill(killRequest(payload)) } : refusal("malformed");
      case TYPE.deadline:
        return payload.length === 8
          ? { ok: ending.setDeadline(Number(payload.readBigInt64LE())) }
          : refusal("malformed");
      case TYPE.watch:
        this.watching = true;
        return { ok: true };
      case TYPE.detach:
        ending.toBackground();
        return { ok: true };
      case TYPE.stat:
        return { ok: true, pid: running.root.pid, stdinOpen: running.feed?.isOpen ?? false, bytes: session.bytes };
      case TYPE.resize: {
        if (payload.length !== 4) return refusal("malformed");
        const size = { columns: payload.readUInt16LE(0), rows: payload.readUInt16LE(2) };
        const ok = running.terminal?.resize(size, session.bytes[0] ?? 0);
        return ok ? { ok } : refusal(running.terminal ? "no such size" : "no terminal");
      }
      case TYPE.inputState:
        if (!running.terminal) return refusal("no terminal");
        return { ok: true, ...running.terminal.inputState(), bytes: session.bytes[0] ?? 0 };
      default:
        return refusal(type === TYPE.run ? "busy" : "unknown frame");
    }
  }
}

function refusal(why: string): object {
  return { ok: false, why };
}

function killRequest(payload: Buffer) {
  const grace = Number(payload.readBigInt64LE(3));
  return {
    signal: payload[0] as number,
    scope: payload[1] ? ("tree" as const) : ("main" as const),
    ends: payload[2] === 1,
    graceMs: grace < 0 ? null : grace,
  };
}
