import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../core/error.ts";
import type { RunRequest } from "../core/request.ts";
import type { RunResult } from "../core/result.ts";
import type { ClaimedItem, WorkQueue } from "../storage/work.ts";
import { type DbosQueue, DbosSink } from "./dbos.ts";
import type { DeliveryFailure } from "./items.ts";
import { deliveryBody } from "./items.ts";
import { callWebhook, checkWebhook, type Webhook } from "./webhook.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60 * 1000;

/** Returns the delay before the next attempt: exponential backoff up to 15 minutes, with jitter. */
export function backoffMs(attempts: number, random: number = Math.random()): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  return Math.round(whole / 2 + (whole / 2) * random);
}

/** Runs a command through the gateway (invariant 1). */
export type Run = (request: RunRequest, options: { signal: AbortSignal }) => Promise<RunResult>;

/** Runs the command with the item on stdin. Any outcome other than exit code 0 is a failure. */
async function callCommand(
  item: ClaimedItem,
  [command = "", ...args]: readonly string[],
  run: Run,
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<DeliveryFailure> {
  const request: RunRequest = {
    command,
    args,
    stdin: { text: `${deliveryBody(item)}\n` },
    timeoutMs: options.timeoutMs,
    intent: `Deliver work item ${item.key}`,
  };
  try {
    const { status, exitCode, signal, error } = await run(request, { signal: options.signal });
    if (status === "completed" && exitCode === 0) return null;
    const how = signal ?? `exit code ${exitCode}`;
    return `the command failed: ${error?.message ?? (status === "completed" ? how : `${status}, ${how}`)}`;
  } catch (error) {
    return `the command could not be run: ${(error as Error).message}`;
  }
}

/** The receivers of each item. An item is acknowledged when all of them have accepted it. */
export interface DispatchTarget {
  /** A program with its arguments. It receives the item on stdin. */
  command?: readonly string[];
  webhook?: Webhook;
  /** A durable queue that starts one workflow per item. */
  dbos?: DbosQueue;
}

export interface DispatchOptions {
  run: Run;
  /** The name shown as the holder of an item's lease. */
  worker?: string;
  /** Only items of these types are delivered. Default: all types. */
  types?: readonly string[];
  webhookTimeoutMs?: number;
  dbosTimeoutMs?: number;
  commandTimeoutMs?: number;
  backoff?(attempts: number): number;
  /** Called after each attempt, with the reason and the delay until the next attempt when it failed. */
  onAttempt?(item: ClaimedItem, failure: { why: string; againInMs: number } | null): void;
}

const WEBHOOK_TIMEOUT_MS = 10_000;
const DBOS_TIMEOUT_MS = 10_000;
const COMMAND_TIMEOUT_MS = 60_000;
/** Added to the timeouts, so that a lease does not expire while a slow delivery is in progress. */
const LEASE_MARGIN_MS = 30_000;
const STORE_RETRY_MS = 1000;

/**
 * Claims items one by one and delivers them to a command, a webhook or a durable queue, at least once, with exponential
 * backoff and no limit on attempts. An item is acknowledged after delivery; after a crash its lease expires.
 */
export class Dispatcher {
  readonly #queue: WorkQueue;
  readonly #target: DispatchTarget;
  readonly #dbos: DbosSink | null;
  readonly #options: Required<Omit<DispatchOptions, "types" | "onAttempt">> &
    Pick<DispatchOptions, "types" | "onAttempt">;
  #running: { stop: AbortController; ended: Promise<void> } | null = null;

  constructor(queue: WorkQueue, target: DispatchTarget, options: DispatchOptions) {
    if (target.webhook) checkWebhook(target.webhook);
    if (target.command && !target.command[0]) throw noCommand();
    this.#queue = queue;
    this.#target = target;
    this.#dbos = target.dbos ? new DbosSink(target.dbos) : null;
    this.#options = {
      worker: `dispatch ${process.pid}`,
      webhookTimeoutMs: WEBHOOK_TIMEOUT_MS,
      dbosTimeoutMs: DBOS_TIMEOUT_MS,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      backoff: backoffMs,
      ...options,
    };
  }

  start(): void {
    if (this.#running) return;
    const stop = new AbortController();
    this.#running = { stop, ended: this.#loop(stop.signal) };
  }

  /** Stops delivering. An item that is being delivered returns to the queue immediately. */
  async stop(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    running?.stop.abort();
    await running?.ended;
    await this.#dbos?.close();
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { worker, types, webhookTimeoutMs, dbosTimeoutMs, commandTimeoutMs } = this.#options;
    const leaseMs = webhookTimeoutMs + dbosTimeoutMs + commandTimeoutMs + LEASE_MARGIN_MS;
    while (!signal.aborted) {
      try {
        const item = await this.#queue.next({ worker, leaseMs, signal, hold: false, ...(types ? { types } : {}) });
        if (item) await this.#deliver(item, signal);
      } catch {
        // After a storage error, such as a full disk, the item is delivered again. An abort ends the loop.
        await sleep(STORE_RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  async #deliver(item: ClaimedItem, signal: AbortSignal): Promise<void> {
    const why = (await this.#call(item, signal)) ?? null;
    if (why === null) {
      this.#queue.ack(item.id, item.lease);
      this.#options.onAttempt?.(item, null);
      return;
    }
    const againInMs = signal.aborted ? 0 : this.#options.backoff(item.attempts);
    this.#queue.retry(item.id, item.lease, { delayMs: againInMs, note: why });
    this.#options.onAttempt?.(item, { why, againInMs });
  }

  async #call(item: ClaimedItem, stop: AbortSignal): Promise<string | null> {
    const { command, webhook } = this.#target;
    const { run, webhookTimeoutMs, dbosTimeoutMs, commandTimeoutMs } = this.#options;
    const within = (ms: number) => AbortSignal.any([stop, AbortSignal.timeout(ms)]);
    if (command) {
      const failure = await callCommand(item, command, run, { timeoutMs: commandTimeoutMs, signal: stop });
      if (failure !== null) return failure;
    }
    const failure = webhook ? await callWebhook(item, webhook, within(webhookTimeoutMs)) : null;
    return failure ?? (await this.#dbos?.deliver(item, within(dbosTimeoutMs))) ?? null;
  }
}

function noCommand(): SallyportError {
  return new SallyportError("InvalidConfiguration", "`callback.command` must not be empty.", [
    { action: "fix_configuration", hint: 'Set it to a program and its arguments, such as ["notify-send", "done"].' },
  ]);
}
