import { type ErrorText, SallyportError } from "../core/error.ts";
import type { ClaimedItem } from "../storage/work.ts";
import type { DeliveryFailure } from "./items.ts";
import { deliveryBody } from "./items.ts";

function dbosMissing(name: string): ErrorText {
  return [
    `\`callback.dbos\` requires the package ${name}, which is not installed.`,
    [{ action: "install", hint: `Run \`npm install ${name}\` in the folder where Sallyport is installed.` }],
  ];
}

function dbosUrlBad(): ErrorText {
  return [
    "The file in `callback.dbos.urlFile` must contain the URL of a PostgreSQL database.",
    [{ action: "fix_configuration", hint: "Use the form postgresql://user:password@host:5432/app_dbos_sys." }],
  ];
}

/** A DBOS workflow queue in the PostgreSQL system database of an application. */
export interface DbosQueue {
  /** The URL of the application's system database (`postgresql://…`). */
  databaseUrl: string;
  queue: string;
  /** The registered name of the workflow, which receives the item as its argument. */
  workflow: string;
  workflowClass?: string | undefined;
}

/** The part of the DBOS client that is used here. The package is optional, so its types cannot be imported. */
interface Client {
  enqueuePortable(options: object, args: unknown[]): Promise<unknown>;
  destroy(): Promise<void>;
}

const PACKAGE = "@dbos-inc/dbos-sdk";
const QUIET = { info() {}, debug() {}, warn() {}, error() {} };
/** The number of database connections. One is enough, because items are enqueued one at a time. */
const POOL_SIZE = 1;

/** Throws InvalidConfiguration when the URL is not usable, so that the error is reported at startup. */
export function checkDbos({ databaseUrl }: DbosQueue): void {
  if (!/^postgres(ql)?:\/\//.test(databaseUrl)) throw new SallyportError("InvalidConfiguration", ...dbosUrlBad());
  try {
    import.meta.resolve(PACKAGE);
  } catch {
    throw new SallyportError("InvalidConfiguration", ...dbosMissing(PACKAGE));
  }
}

/**
 * Enqueues items as DBOS workflows. The item's key is the workflow ID, and DBOS starts one workflow per ID, so an item
 * that is delivered again after a crash runs once.
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
      // The portable encoding allows workflows in other languages.
      await orAborted(client.enqueuePortable(options, [JSON.parse(deliveryBody(item))]), signal);
      return null;
    } catch (error) {
      await this.close();
      return `enqueuing in DBOS failed: ${reasonOf(error)}`;
    }
  }

  /** Closes the connection. The next item opens a new one. */
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

/** Rejects when `signal` aborts. The DBOS client itself retries without a limit. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns the reason for an error without the database URL, which may contain a password. */
function reasonOf(error: unknown): string {
  const { name, code, message } = error as Error & { code?: string };
  if (name === "TimeoutError") return "timed out";
  return (code ?? message).replace(/postgres(ql)?:\/\/\S+/g, "the database");
}
