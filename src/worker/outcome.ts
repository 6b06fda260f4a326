import type { RunResult } from "../core/result.ts";
import type { Account, Ending, ExitRecord, Parting } from "../executor/executor.ts";
import { unstartedRecord } from "../executor/unstarted-record.ts";
import { endingOf } from "../session/ending.ts";
import type { Refusal } from "../session/refusal.ts";
import type { Registry } from "../session/registry.ts";
import type { NewSession, SessionRow } from "../storage/sessions.ts";

export interface Outcome {
  record: ExitRecord | "lost";
  account: Account;
}

type Asked = Omit<NewSession, "name">;

/** What there is to say of a command's end: only here can its files and folders be looked at. */
export async function outcomeHere(
  registry: Registry,
  session: Asked,
  name: string,
  ending: Ending,
  withResult: boolean,
): Promise<Outcome> {
  const data = registry.executor.data(session);
  const ended = endingOf(session, ending, data);
  const account: Account = {
    status: ended.status,
    warnings: JSON.parse(ended.warnings) as string[],
    hints: JSON.parse(ended.hints) as string[],
    error: ended.error === null ? null : (JSON.parse(ended.error) as Account["error"]),
    ...(session.background === 1 ? told(session, data.forCallback()) : { logPath: null, lastLines: [] }),
  };
  if (!withResult) return { record: ending, account };
  const result = await data.result(name, session, ending);
  const { status, warnings, hints, error } = result;
  return { record: ending, account: { ...account, status, warnings, hints, error: error as Account["error"], result } };
}

function told(session: Asked, { logPath, lastLines }: { logPath: string | null; lastLines: string[] }) {
  return { logPath: session.log_file ?? logPath, lastLines };
}

/** The end of a session that this worker's records tell of. */
export function storedOutcome(row: SessionRow, logs: { logPath: string | null; lastLines: string[] }): Outcome {
  const record = row.record === null ? ("lost" as const) : (JSON.parse(row.record) as ExitRecord);
  const account: Account = {
    status: row.status,
    warnings: JSON.parse(row.warnings) as string[],
    hints: JSON.parse(row.hints) as string[],
    error: row.error === null ? null : (JSON.parse(row.error) as Account["error"]),
    ...logs,
  };
  return { record, account };
}

/** It never came to run here. */
export function refusedOutcome({ status, error }: Refusal): Outcome {
  const account: Account = { status, warnings: [], hints: [], error, logPath: null, lastLines: [] };
  return { record: unstartedRecord("worker"), account };
}

export function isOver(ending: Parting): ending is Ending {
  return ending !== "detached";
}

/** What fits into one message besides all else. */
export function fits(result: RunResult | undefined, most: number): boolean {
  if (!result) return true;
  return result.stdout.length + result.stderr.length + result.output.length < most / 4;
}
