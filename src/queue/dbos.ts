import { type ErrorText, SallyportError } from "../core/error.ts";
import type { ClaimedItem } from "../storage/work.ts";
import type { DeliveryFailure } from "./items.ts";
import { deliveryBody } from "./items.ts";

function dbosMissing(name: string): ErrorText {
  return [
    `\`callback.dbos\` needs the package ${name}, which is not installed.`,
    [{ action: "install", hint: `npm install ${name} where sallyport is installed.` }],
  ];
}

function dbosUrlBad(): ErrorText {
  return [
    "`callback.dbos.urlFile` must hold the address of a PostgreSQL database.",
    [{ action: "fix_configuration", hint: "It looks like postgresql://user:password@host:5432/app_dbos_sys." }],
  ];
}

/** A durable workflow queue of DBOS, in its PostgreSQL system database. */
export interface DbosQueue {
  /** postgresql://…, the application's system database. */
  databaseUrl: string;
  queue: string;
  /** The name the workflow was registered by; it is given the item. */
  workflow: string;
  workflowClass?: string | undefined;
}

/** What we use of it: the package is an optional one, and its types with it. */
interface Client {
  enqueuePortable(options: object, args: unknown[]): Promise<unknown>;
  destroy(): Promise<void>;
}

const PACKAGE = "@dbos-inc/dbos-sdk";
const QUIET = { info() {}, debug() {}, warn() {}, error() {} };
/** We enqueue one at a time. */
const POOL_SIZE = 1;

/** Refused before the first item: a queue that cannot work should not be found out item by item. */
export function checkDbos({ databaseUrl }: DbosQueue): void {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw new SallyportError("InvalidConfiguration", ...dbosUrlBad());
  try {
    import.meta.resolve(PACKAGE);
  } catch {
    throw new SallyportError("InvalidConfiguration", ...dbosMissing(PACKAGE));
  }
}

/**
 * Puts items into the queue. The item's key is the workflow's id, and DBOS starts one workflow an id: an item that is
 * delivered again after a crash is still done once.
 */
export class DbosSink {
  readonly #queue: DbosQueue;
  #client: Promise<Client> | null = null;

  constructor(queue: DbosQueue) {
    checkDbos(queue);
    this.#queue = queue;
  }

  async deliver(item: ClaimedItem, signal: AbortSignal): Promise<DeliveryFailure> {
    const { queue, workflow, workflowClass } = this.#queue;
    const options = {
      queueName: queue,
      workflowName: workflow,
      workflowID: item.key,
      ...(workflowClass === undefined ? {} : { workflowClassName: workflowClass }),
    };
    try {
      const client = await this.#connected();
      // Portable: the workflow may be written in another language.
      await orAborted(client.enqueuePortable(options, [JSON.parse(deliveryBody(item))]), signal);
      return null;
    } catch (error) {
      await this.close();
      return `the DBOS queue did not take it: ${reasonOf(error)}`;
    }
  }

  /** A connection that failed is not kept: the next item gets another. */
  async close(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.then((open) => open.destroy()).catch(() => {});
  }

  #connected(): Promise<Client> {
    this.#client ??= connect(this.#queue.databaseUrl);
    return this.#client;
  }
}

async function connect(systemDatabaseUrl: string): Promise<Client> {
  const { DBOSClient } = await import("@dbos-inc/dbos-sdk");
  return DBOSClient.create({ systemDatabaseUrl, systemDatabasePoolSize: POOL_SIZE, logger: QUIET });
}

/** It tries by itself for as long as it takes; we have our own patience. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** The driver's own words may hold the address, with its password. */
function reasonOf(error: unknown): string {
  const { name, code, message } = error as Error & { code?: string };
  if (name === "TimeoutError") return "it did not answer in time";
  return (code ?? message).replace(/postgres(ql)?:\/\/\S+/g, "its database");
}
