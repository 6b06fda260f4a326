/** What workers tell of the sessions they have: checked on arrival, since a worker may have been taken over (promise 7). */
import * as z from "zod";
import { STATUSES } from "../core/result.ts";
import type { SessionInfo } from "../core/session.ts";
import { SessionShape } from "../core/session-shape.ts";
import { MOST_ATTEMPTS, SessionId, SessionName, token } from "./wire.ts";

/** The operation, and whose sessions it is about is said by the subject. */
export const LIST = "sessions";
/** Rows of one answer, and about so many bytes: whoever wants more goes on from there. */
export const MOST_LISTED = 1000;
export const MOST_BYTES = 1 << 20;
/** What one row may take of them. */
export const MOST_ROW_BYTES = 32 << 10;
/** Nobody's answer may be longer, with all that a row can hold. */
export const LONGEST_ANSWER = 4 << 20;

const words = z.string().max(1024);

export const ListAsk = z.object({
  /** Those of this home are known to whoever asks. */
  notHome: token,
  status: z.array(z.enum(STATUSES)).max(STATUSES.length).optional(),
  live: z.boolean().optional(),
  limit: z.int().min(1).max(MOST_LISTED),
  before: z.string().max(64).optional(),
  text: words.optional(),
  /** Only the one of this name or id, or whose id begins so. */
  called: words.optional(),
  /** Also count all that match. */
  count: z.boolean().optional(),
});
export type ListAsk = z.infer<typeof ListAsk>;

/** Shown as it is: it must be nothing that a terminal would obey. */
const SignalName = z.string().regex(/^SIG[A-Z0-9+-]{1,12}$/) as unknown as z.ZodType<NodeJS.Signals>;

const Row = z.object({
  session: SessionShape.extend({
    id: SessionId,
    name: SessionName,
    agent: z
      .string()
      .max(256)
      .regex(/^\P{Cc}+$/u),
    pid: z.int().min(0).nullable(),
    signal: SignalName.nullable(),
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime().nullable(),
  }),
  gateway: token,
  attempt: z.int().min(1).max(MOST_ATTEMPTS),
});
export type ListedRow = z.infer<typeof Row>;

export const Listed = z.object({
  rows: z.array(Row).max(MOST_LISTED),
  /** There are older ones. */
  more: z.boolean(),
  total: z.int().min(0).nullable(),
});
export type Listed = z.infer<typeof Listed>;

/** Clocks differ, but not by more than this. */
const MOST_AHEAD_MS = 3_600_000;

/**
 * What is left of an answer when what nobody asked for and what is told again is left out: neither makes the page of a
 * worker full, behind which it could hide others' sessions (promise 7).
 */
export function believed(rows: ListedRow[], { before, agent }: { before?: string | undefined; agent: string | null }) {
  const attempts = new Map<string, ListedRow>();
  for (const row of rows) {
    const { id, agent: whose } = row.session;
    if (agent !== null && whose !== agent) continue;
    if (before !== undefined && id >= before) continue;
    if (madeAtMs(id) > Date.now() + MOST_AHEAD_MS) continue;
    attempts.set(`${id} ${row.attempt}`, row);
  }
  return [...attempts.values()];
}

/** Ids begin with the time. */
function madeAtMs(id: string): number {
  return Number.parseInt(id.replace("-", "").slice(0, 12), 16);
}

/** A row as this gateway shows it. Where it is, is who said so. */
export function shownOf({ session, gateway }: ListedRow, host: string): SessionInfo {
  return { ...session, host, gateway };
}
