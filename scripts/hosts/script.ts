import type { Answer, Conversation } from "./model/conversation.ts";

/** A tool call that the stand-in model makes. */
export interface Step {
  name: string;
  /** Selects the tool among those that the host offers. Null for a tool that is called whether it is offered or not. */
  find: ((offered: string[]) => string | undefined) | null;
  /** The tool to call if it is not offered. */
  fallback: string;
  /** The arguments, for the tool with this name. */
  input: (tool: string) => Record<string, unknown>;
}

/** What became of a step. */
export interface Played {
  step: string;
  tool: string;
  /** Whether the host offered the tool. */
  offered: boolean;
  /** What the model got as the result. Null if the host did not continue. */
  result: string | null;
}

/** Hosts may send their first requests before a server has started. */
const ATTEMPTS = 20;
const BETWEEN_ATTEMPTS_MS = 500;

/** Plays the steps in order: each request has the results of the calls so far, which tells the next step. */
export class Script {
  readonly #steps: Step[];
  readonly #calls: { step: number; played: Played; input: Record<string, unknown> }[] = [];

  constructor(steps: Step[]) {
    this.#steps = steps;
  }

  /** The last call of each step. */
  get played(): Played[] {
    return this.#steps.flatMap((_, step) => this.#calls.findLast((call) => call.step === step)?.played ?? []);
  }

  async next({ tools, results }: Conversation): Promise<Answer> {
    for (const [index, result] of results.entries()) {
      const call = this.#calls[index];
      if (call) call.played.result ??= result;
    }
    const index = results.length;
    const call = this.#calls[index] ?? (await this.#nextCall(tools));
    if (!call) return { text: "done" };
    this.#calls[index] ??= call;
    return { call: { id: `call_${index + 1}`, name: call.played.tool, input: call.input } };
  }

  async #nextCall(tools: string[]) {
    const last = this.#calls.at(-1);
    const again = last !== undefined && this.#isEarly(last.step, last.played);
    const number = last === undefined ? 0 : again ? last.step : last.step + 1;
    const step = this.#steps[number];
    if (!step) return null;
    const tool = step.find?.(tools) ?? step.fallback;
    const played: Played = { step: step.name, tool, offered: tools.includes(tool), result: null };
    if (this.#isEarly(number, played)) await new Promise((resolve) => setTimeout(resolve, BETWEEN_ATTEMPTS_MS));
    return { step: number, played, input: step.input(tool) };
  }

  /** Whether the tool of a step may be offered later. */
  #isEarly(number: number, { offered }: Played): boolean {
    const attempts = this.#calls.filter(({ step }) => step === number).length;
    return !offered && this.#steps[number]?.find !== null && attempts < ATTEMPTS;
  }
}
