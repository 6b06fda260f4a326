/**
 * The messages between gateways and workers. Every message is validated on arrival, because any member of the fleet may
 * have sent it.
 */
import * as z from "zod";
import { RunRequest } from "../core/request.ts";
import { STATUSES } from "../core/result.ts";
import { RecoveryBody, SessionSchema } from "../core/session-schema.ts";
import { ExitRecordSchema } from "../executor/native/exit-record.ts";
import type { ApprovedRequest } from "./attestation.ts";

/** The protocol version. It is incremented with each incompatible change to a message. */
export const WIRE_VERSION = 1;

/** Maximum number of times that a command with `retry: "idempotent"` is started. */
export const MAX_ATTEMPTS = 3;

const name = z.string().min(1).max(256);
const SessionName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i);
export const SessionId = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const timestamp = z.number().min(0);
export const token = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/);

/** A gateway process that receives the events of a session. */
const Address = z.object({ gateway: token, process: token });
export type Address = z.infer<typeof Address>;

/** The fields of a job that are the same in all protocol versions. */
export const Envelope = z.object({
  version: z.number(),
  id: SessionId,
  agent: name,
  attempt: z.int().min(1).max(MAX_ATTEMPTS).optional(),
});

/** A job. The worker that claims it applies its own policy and sandbox to the request. */
const AnyJobMessage = z.object({
  version: z.literal(WIRE_VERSION),
  id: SessionId,
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
  agent: name,
  to: Address,
  /** With `sticky`, all sessions of the workspace run on the host that has its files. */
  workspace: z.object({ name: token, sticky: z.boolean() }),
  background: z.boolean(),
  /** The session's name and the ID of the gateway's state folder (`home`). Older gateways do not send this field. */
  from: z.object({ home: token, name: SessionName }).optional(),
  /** Paths inside the workspace are relative. */
  request: RunRequest,
  /** The attestation (see attestation.ts). */
  statement: z.unknown().optional(),
  sentMs: timestamp,
});

export const JobMessage = AnyJobMessage.refine(
  ({ attempt, request }) => attempt === 1 || request.retry === "idempotent",
  {
    error: 'only a request with `retry: "idempotent"` may run more than once',
  },
);

export type JobMessage = z.infer<typeof JobMessage>;

/**
 * Returns the part of a job that its approval is bound to: everything that determines what runs and for whom
 * (invariant 2).
 */
export function approvedRequest({ id, agent, workspace, background, request }: JobMessage): ApprovedRequest {
  return { session: id, agent, request: { workspace: workspace.name, background, ...request } };
}

const SerializedError = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(RecoveryBody).readonly(),
});

/** How a command ended, as reported by its worker. */
const ExitReport = z.object({
  status: z.string(),
  warnings: z.array(z.string()),
  hints: z.array(RecoveryBody).readonly(),
  error: SerializedError.nullable(),
  logPath: z.string().nullable(),
  lastLines: z.array(z.string()),
});

/** A session in the registry. The worker that creates the entry has claimed the session. */
export const RegistryEntry = z.object({
  version: z.number(),
  /** An `open` session can be claimed again. A `forgone` session was abandoned and must never be started. */
  state: z.enum(["claimed", "ended", "lost", "forgone", "open"]),
  host: token.nullable(),
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
  to: Address,
  background: z.boolean(),
  atMs: timestamp,
  /** A random ID of the claim, by which a worker recognizes its own claim after a lost response. */
  claim: z.string(),
  record: z.union([ExitRecordSchema, z.literal("lost")]).optional(),
  account: ExitReport.optional(),
});

export type RegistryEntry = z.infer<typeof RegistryEntry>;

/** A worker's heartbeat. */
export const WorkerInfo = z.object({
  version: z.number(),
  /** The version of Sallyport. */
  release: z.string(),
  host: token,
  /** A random ID that changes with each start of the worker and with each reconnect. */
  boot: z.string(),
  labels: z.record(z.string(), z.string()),
  slots: z.int().min(0),
  free: z.int().min(0),
  running: z.int().min(0),
  /** The load average over one minute. */
  load: z.number(),
  draining: z.boolean(),
  /** The reason why the worker cannot accept jobs at the moment. Older workers do not send it. */
  trouble: z.string().max(1024).nullish(),
  startedMs: timestamp,
  atMs: timestamp,
});

export type WorkerInfo = z.infer<typeof WorkerInfo>;

const TerminalHistory = z.union([
  z.object({
    sizes: z.array(z.object({ offset: z.number(), columns: z.number(), rows: z.number() })).min(1),
  }),
  z.object({ failed: z.object({ step: z.string(), errno: z.number() }) }),
]);

/** Gateways choose session IDs, so a session is identified by its agent and its ID. */
const sessionFields = { id: SessionId, agent: name, attempt: z.int() };

/** An event of a session, sent to the gateway processes that watch it. */
export const SessionEvent = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("started"),
    ...sessionFields,
    host: token,
    pid: z.number().nullable(),
    gaps: z.array(z.string()),
    terminal: TerminalHistory.nullable(),
  }),
  z.object({ kind: z.literal("grew"), ...sessionFields }),
  /** The job must be sent to `host`, which has the files of its workspace. */
  z.object({ kind: z.literal("elsewhere"), ...sessionFields, host: token }),
  z.object({
    kind: z.literal("exited"),
    ...sessionFields,
    host: token,
    /** "lost" when the keeper was killed and left no exit record. */
    record: z.union([ExitRecordSchema, z.literal("lost")]),
    account: ExitReport,
    /** True when the worker has published the exit, so that the gateway does not have to. */
    announced: z.boolean().optional(),
    /** The result of a foreground command. A result that does not fit into the message is fetched on demand. */
    result: z.unknown().optional(),
  }),
]);

export type SessionEvent = z.infer<typeof SessionEvent>;

/** A request to the worker that has a session. */
export const ControlRequest = z.object({
  version: z.literal(WIRE_VERSION),
  id: SessionId,
  args: z.unknown().optional(),
  to: Address.optional(),
  /** The name of the response stream, for operations with a streamed response. */
  flow: z
    .string()
    .regex(/^[A-Za-z0-9]{1,40}$/)
    .optional(),
  statement: z.unknown().optional(),
});

export type ControlRequest = z.infer<typeof ControlRequest>;

export const ControlResponse = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), error: SerializedError }),
]);

/** The end of a background session, as published to the exit stream. */
export const ExitNotice = z.object({
  type: z.literal("EXEC_CALLBACK"),
  session_id: SessionId,
  agent: name,
  host: z.string().nullable(),
  status: z.string(),
  exit_code: z.number().nullable(),
  log_path: z.string().nullable(),
  last_lines: z.array(z.string()),
  ended_ms: timestamp,
});

export type ExitNotice = z.infer<typeof ExitNotice>;

/** The control operation that lists sessions. The agent is part of its subject. */
export const LIST_OPERATION = "sessions";
/** Limits of one page of a listing. */
export const MAX_LIST_ROWS = 1000;
export const MAX_LIST_BYTES = 1 << 20;
export const MAX_ROW_BYTES = 32 << 10;
/** Gateways reject listings that are longer than this. */
export const MAX_LIST_RESPONSE_BYTES = 4 << 20;
const shortText = z.string().max(1024);
export const ListRequest = z.object({
  /** The ID of the requesting gateway's state folder, whose own sessions are omitted. */
  notHome: token,
  status: z.array(z.enum(STATUSES)).max(STATUSES.length).optional(),
  live: z.boolean().optional(),
  limit: z.int().min(1).max(MAX_LIST_ROWS),
  before: z.string().max(64).optional(),
  text: shortText.optional(),
  /** Selects sessions with this name, or whose ID starts with it. */
  called: shortText.optional(),
  /** Requests the total number of matching sessions. */
  count: z.boolean().optional(),
});

export type ListRequest = z.infer<typeof ListRequest>;

/** A signal name. It is printed without escaping, so it must not contain control characters. */
const SignalName = z.string().regex(/^SIG[A-Z0-9+-]{1,12}$/) as unknown as z.ZodType<NodeJS.Signals>;
export const ListedRow = z.object({
  session: SessionSchema.extend({
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
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
});

export type ListedRow = z.infer<typeof ListedRow>;
export const SessionListing = z.object({
  rows: z.array(ListedRow).max(MAX_LIST_ROWS),
  /** True when the worker has older rows. */
  more: z.boolean(),
  total: z.int().min(0).nullable(),
});

export type SessionListing = z.infer<typeof SessionListing>;

/** Returns the parsed JSON body of a message or bucket entry, or null when it is not JSON. */
export function parseJson(source: { json(): unknown }): unknown {
  try {
    return source.json();
  } catch {
    return null;
  }
}
