import type { Dispatcher } from "../queue/dispatch.ts";

/** What a gateway does by itself for as long as it is open; none of it keeps the process alive. */
export class Upkeep {
  readonly #timers: NodeJS.Timeout[] = [];
  #dispatcher: Dispatcher | null = null;

  every(ms: number, chore: () => void): void {
    this.#timers.push(setInterval(chore, ms).unref());
  }

  /** Tells the operator's callback of work items; null: nobody is to be told. */
  callBack(dispatcher: Dispatcher | null): void {
    this.#dispatcher = dispatcher;
    dispatcher?.start();
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#dispatcher?.stop();
  }
}
