/** What workers tell of the sessions they have: checked on arrival, since a worker may have been taken over (promise 7). */
import * as z from "zod";
import { STATUSES } from "../../contract/result.ts";
import type { SessionInfo } from "../../contract/session.ts";
import { SessionShape } from "../../contract/session-shape.ts";
import { MOST_ATTEMPTS, SessionId, SessionName, token } from "./wire.ts";

/** The operation, and whose sessions it is about is said by the subject. */
export const LIST = "sessions";
/** Rows of one answer, and about so many bytes: whoever wants more goes on from there. */
export const MOST_LISTED = 1000;
export const MOST_BYTES = 1 << 20;
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

const Row = z.object({
  session: SessionShape.extend({
    id: SessionId,
    name: SessionName,
    agent: z.string().min(1).max(256),
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

/** A row as this gateway shows it. Where it is, is who said so. */
export function shownOf({ session, gateway }: ListedRow, host: string): SessionInfo {
  return { ...session, host, gateway };
}
