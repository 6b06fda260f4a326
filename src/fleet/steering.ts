import type { TerminalSize } from "../core/terminal.ts";
import type { InputState } from "../executor/executor.ts";

/** What is done to a command on another machine, asked of the worker that has it. */
export abstract class Steering {
  wroteHidden = false;

  /** Undefined: it has ended, or nobody has it yet. */
  protected abstract ask(operation: string, args?: unknown): Promise<unknown>;

  async write(data: Uint8Array): Promise<number | null> {
    const answer = (await this.ask("write", Buffer.from(data).toString("base64"))) as
      | { taken: number | null; hidden: boolean }
      | undefined;
    this.wroteHidden = answer?.hidden ?? false;
    return answer?.taken ?? null;
  }

  async closeStdin(): Promise<void> {
    await this.ask("closeStdin");
  }

  async resize(size: TerminalSize): Promise<boolean> {
    return (await this.ask("resize", size)) === true;
  }

  async inputState(): Promise<InputState | null> {
    const state = (await this.ask("inputState")) as (Omit<InputState, "typed"> & { typed: string }) | null | undefined;
    return state ? { ...state, typed: Buffer.from(state.typed, "base64") } : null;
  }

  async setDeadline(timeoutMs: number): Promise<boolean> {
    return (await this.ask("extend", timeoutMs)) === true;
  }

  /** The line to the servers keeps a process alive by itself. */
  hold(): () => void {
    return () => {};
  }
}
