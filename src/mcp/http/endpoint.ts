import { createMcpHandler, InMemoryServerEventBus, type McpHttpHandler } from "@modelcontextprotocol/server";
import { Connection } from "../connection.ts";
import { Door, type DoorOptions } from "../door.ts";
import { makeServer } from "../server.ts";

/** What one agent is served with over HTTP: its door, and the handler of the 2026 era, which knows no connections. */
export class Endpoint {
  readonly door: Door;
  readonly modern: McpHttpHandler;
  readonly #stops: (() => void)[];

  constructor(options: DoorOptions, onerror: (error: Error) => void) {
    this.door = new Door(options);
    const bus = new ListenedBus((tell) => this.door.watch.listen(tell));
    this.modern = createMcpHandler(
      ({ authInfo }) => makeServer(this.door, new Connection(authInfo?.clientId || null)),
      { legacy: "reject", onerror, bus },
    );
    this.#stops = [this.door.shelf.onChange(() => this.modern.notify.toolsChanged())];
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    await this.modern.close();
    await this.door.close();
  }
}

/** Watches sessions only while somebody listens. */
class ListenedBus extends InMemoryServerEventBus {
  readonly #watch: (tell: (uri: string) => void) => () => void;
  #stop: (() => void) | null = null;

  constructor(watch: (tell: (uri: string) => void) => () => void) {
    super();
    this.#watch = watch;
  }

  override subscribe(listener: Parameters<InMemoryServerEventBus["subscribe"]>[0]): () => void {
    this.#stop ??= this.#watch((uri) => this.publish({ kind: "resource_updated", uri }));
    const unsubscribe = super.subscribe(listener);
    return () => {
      unsubscribe();
      if (this.listenerCount > 0) return;
      this.#stop?.();
      this.#stop = null;
    };
  }
}
