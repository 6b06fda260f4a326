import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { Link } from "../fleet/connection.ts";
import { notHere, notUnderstood } from "../fleet/failures.ts";
import { LIST } from "../fleet/listed.ts";
import { agentToken } from "../fleet/subjects.ts";
import { Ask } from "../fleet/wire.ts";
import type { WorkerDoor } from "../gateway/for-worker.ts";
import type { SessionRow } from "../storage/sessions.ts";
import { asFailure } from "./failure.ts";
import { listHere } from "./listing.ts";
import { localIds } from "./local-id.ts";
import { ASKED, READ } from "./operations.ts";
import { Flows } from "./response-streams.ts";

/** What the worker itself answers besides. */
export interface Own {
  /** Registers who is to be told of a session, and says how it is. */
  watch(row: SessionRow, ask: Ask): Promise<unknown>;
}

/** Answers what gateways ask about sessions of this host. An agent's gateway finds its own sessions only. */
export class Control {
  readonly #door: WorkerDoor;
  readonly #host: string;
  readonly #own: Own;
  readonly #flows: Flows;
  readonly #head: string;

  constructor(link: Link, door: WorkerDoor, host: string, own: Own) {
    this.#door = door;
    this.#host = host;
    this.#own = own;
    this.#flows = new Flows(link, host);
    this.#head = `sp.${link.fleet}.ctl.${host}.`;
    link.nc.subscribe(`${this.#head}*.*`, {
      callback: (error, message) => {
        if (!error) void this.#take(message);
      },
    });
  }

  close(): void {
    this.#flows.close();
  }

  async #take(message: Msg): Promise<void> {
    // A server can be made to deliver here what was published under another subject: that asks for nothing.
    if (!message.subject.startsWith(this.#head)) return;
    const [agent = "", operation = ""] = message.subject.slice(this.#head.length).split(".");
    try {
      const ask = Ask.safeParse(json(message));
      if (!ask.success) throw new SallyportError("FleetVersion", ...notUnderstood(this.#host));
      const value = await this.#answer(agent, operation, ask.data);
      answer(message, { ok: true, value: value ?? null });
    } catch (error) {
      answer(message, { ok: false, error: asFailure(error) });
    }
  }

  async #answer(agent: string, operation: string, ask: Ask): Promise<unknown> {
    const { flow, to, args } = ask;
    if (operation === "credit" && flow)
      return this.#flows.credit(flow, Number((args as { bytes?: number })?.bytes ?? 0));
    if (operation === "cancel" && flow) return this.#flows.cancel(flow);
    if (operation === LIST && flow && to) {
      void this.#flows.run(to, flow, () => listHere(this.#door, agent, args));
      return null;
    }
    const row = this.#row(agent, ask.id);
    if (operation === "watch") return this.#own.watch(row, ask);
    const on = { door: this.#door, row };
    const read = Object.hasOwn(READ, operation) ? READ[operation] : undefined;
    if (read && flow && to) {
      void this.#flows.run(to, flow, (signal) => read(on, args, signal));
      return null;
    }
    const asked = Object.hasOwn(ASKED, operation) ? ASKED[operation] : undefined;
    if (!asked) throw new SallyportError("FleetVersion", ...notUnderstood(this.#host));
    return asked(on, args);
  }

  /** The newest attempt at it. Of another agent's nobody learns whether it is there. */
  #row(agent: string, id: string): SessionRow {
    for (const local of localIds(id)) {
      const row = this.#door.row(local);
      if (row && agentToken(row.agent) === agent) return row;
    }
    throw new SallyportError("SessionNotFound", ...notHere(id, this.#host));
  }
}

/** Servers let a worker answer wherever it was asked to: it must not be made to write to a stream or a bucket so. */
function answer(message: Msg, what: object): void {
  if (message.reply?.startsWith("_INBOX.")) message.respond(JSON.stringify(what));
}

function json(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}
