import type { ExitOutcome, ExitRecord, ExitReport } from "../executor/execution.ts";
import { reportedExitCode, unstartedRecord } from "../executor/execution.ts";
import type { FleetConnection } from "../fleet/connection.ts";
import { publishExit } from "../fleet/exits.ts";
import type { FleetRegistry } from "../fleet/registry.ts";
import type { Address, RegistryEntry, SessionEvent } from "../fleet/wire.ts";
import { endedFields } from "../session/outcome.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Registry } from "../session/registry.ts";
import type { NewSession, SessionRow } from "../storage/sessions.ts";
import type { Claim } from "./claims.ts";

export interface Outcome {
  record: ExitRecord | "lost";
  account: ExitReport;
}

/** Returns the outcome of a command. It is determined on this host, which has the session's files. */
export async function exitOutcome(
  registry: Registry,
  session: Omit<NewSession, "name">,
  name: string,
  ending: ExitOutcome,
  withResult: boolean,
): Promise<Outcome> {
  const data = registry.executor.data(session);
  const ended = endedFields(session, ending, data, Date.now());
  const account: ExitReport = {
    status: ended.status,
    warnings: JSON.parse(ended.warnings) as string[],
    hints: JSON.parse(ended.hints) as ExitReport["hints"],
    error: ended.error === null ? null : (JSON.parse(ended.error) as ExitReport["error"]),
    ...(session.background === 1 ? callbackLogs(session, data.forCallback()) : { logPath: null, lastLines: [] }),
  };
  if (!withResult) return { record: ending, account };
  const result = await data.result(name, session, ending);
  const { status, warnings, hints, error } = result;
  return {
    record: ending,
    account: { ...account, status, warnings, hints, error: error as ExitReport["error"], result },
  };
}

function callbackLogs(
  session: Omit<NewSession, "name">,
  { logPath, lastLines }: { logPath: string | null; lastLines: string[] },
) {
  return { logPath: session.log_file ?? logPath, lastLines };
}

/** Returns the outcome of a session that has ended according to its row. */
export function outcomeFromRow(row: SessionRow, logs: { logPath: string | null; lastLines: string[] }): Outcome {
  const record = row.record === null ? ("lost" as const) : (JSON.parse(row.record) as ExitRecord);
  const account: ExitReport = {
    status: row.status,
    warnings: JSON.parse(row.warnings) as string[],
    hints: JSON.parse(row.hints) as ExitReport["hints"],
    error: row.error === null ? null : (JSON.parse(row.error) as ExitReport["error"]),
    ...logs,
  };
  return { record, account };
}

/** Returns the outcome of a request that was denied or failed before it ran. */
export function refusedOutcome({ status, error }: Refusal): Outcome {
  const account: ExitReport = { status, warnings: [], hints: [], error, logPath: null, lastLines: [] };
  return { record: unstartedRecord("worker"), account };
}

/**
 * The result of recording an end. `superseded` means that the entry now has another claim or state. `unreadable` means
 * that the entry is invalid, so the end cannot be recorded, but watchers are still notified.
 */
export type RecordResult = "ours" | "superseded" | "unreadable";

/** Reports the state of sessions to gateways, to the registry and to the exit stream. */
export class Reporter {
  readonly #connection: FleetConnection;
  readonly #fleetRegistry: FleetRegistry;
  readonly #host: string;

  constructor(connection: FleetConnection, fleetRegistry: FleetRegistry, host: string) {
    this.#connection = connection;
    this.#fleetRegistry = fleetRegistry;
    this.#host = host;
  }

  sendEvent(to: Iterable<Address>, event: SessionEvent): void {
    const payload = JSON.stringify(event);
    for (const { gateway, process } of to) {
      this.#connection.nc.publish(this.#connection.subjects.result(gateway, this.#host, process, "news"), payload);
    }
  }

  exitEvent({ id, agent, entry }: Claim, { record, account }: Outcome, announced: boolean): SessionEvent {
    const { result, ...report } = account;
    const maxBytes = (this.#connection.nc.info?.max_payload ?? 1 << 20) / 2;
    const size = result ? result.stdout.length + result.stderr.length + result.output.length : 0;
    return {
      kind: "exited",
      id,
      agent,
      attempt: entry.attempt,
      host: this.#host,
      record,
      account: report,
      announced,
      // A character may take six bytes in JSON. The gateway fetches a result that does not fit on demand.
      ...(result && size * 6 < maxBytes ? { result } : {}),
    };
  }

  /**
   * Records the end in the registry. Safe to repeat after a failure: an end that is already recorded counts as "ours".
   */
  async recordEnd({ id, agent, entry, revision }: Claim, outcome: Outcome, background: boolean): Promise<RecordResult> {
    const { result, ...account } = outcome.account;
    const ended = { ...entry, state: "ended" as const, background, atMs: Date.now(), record: outcome.record, account };
    return this.#write(agent, id, ended, revision);
  }

  /** Writes the end. Ownership is decided by the claim ID, not by the revision, which may change during a failover. */
  async #write(agent: string, id: string, ended: RegistryEntry, revision: number): Promise<RecordResult> {
    for (let known = revision; ; ) {
      if ((await this.#fleetRegistry.update(agent, id, ended, known)) !== null) return "ours";
      const current = await this.#fleetRegistry.read(agent, id);
      // The entry has expired. It is created again with the end.
      if (!current) return (await this.#fleetRegistry.create(agent, id, ended)) === null ? "unreadable" : "ours";
      if (current.entry.claim !== ended.claim) return "superseded";
      if (current.entry.state !== "claimed") return current.entry.state === "ended" ? "ours" : "superseded";
      known = current.revision;
    }
  }

  /** Publishes the exit of an ended entry, in case the worker was killed after recording the end. */
  async complete(
    claim: Claim,
    { background, record, account }: RegistryEntry,
    isCancelled: () => boolean,
  ): Promise<void> {
    if (background && record && account)
      await this.publishExit(claim, { record, account: account as ExitReport }, isCancelled);
  }

  /** Publishes an exit. Resolves to false when the stream rejects it or `isCancelled` returns true. */
  publishExit({ id, agent }: Claim, { record, account }: Outcome, isCancelled: () => boolean): Promise<boolean> {
    const { status, logPath, lastLines } = account;
    const exitCode = reportedExitCode(status, record);
    const report = { id, agent, host: this.#host, status, exitCode, logPath, lastLines };
    return publishExit(this.#connection, report, isCancelled);
  }
}
