import type { IncomingMessage, ServerResponse } from "node:http";
import type { DoorOptions } from "../mcp/door.ts";
import type { Front } from "../mcp/http/front.ts";
import type { Service } from "./service.ts";

const PATH = "/mcp";
const SESSIONS = { most: 64, idleMs: 30 * 60_000 };

/** The Model Context Protocol behind the same listener, for agents with a token. Loaded when somebody first asks. */
export class McpPath {
  readonly #service: Service;
  readonly #door: Omit<DoorOptions, "agent">;
  #front: Promise<Front> | null = null;

  constructor(service: Service, door: Omit<DoorOptions, "agent">) {
    this.#service = service;
    this.#door = door;
  }

  takes({ url = "" }: IncomingMessage): boolean {
    return url === PATH || url.startsWith(`${PATH}?`);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#front ??= this.#open();
    await (await this.#front).answer(request, response);
  }

  async #open(): Promise<Front> {
    const { Front } = await import("../mcp/http/front.ts");
    const { names, tokens, largeBodies, onfailure } = this.#service;
    // Persons decide on the page: what an agent's own client says about its user counts for nothing here (promise 7).
    const hostDecides = false;
    const options = { ...SESSIONS, names, tokens, largeBodies, hostDecides, door: this.#door };
    return new Front({ ...options, onerror: () => {}, onfailure });
  }

  async close(): Promise<void> {
    await (await this.#front)?.close();
  }
}
