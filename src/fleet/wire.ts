/** What travels between gateways and workers: plain data, checked on arrival, since anybody may have sent it. */
import * as z from "zod";
import { RunRequest } from "../core/request.ts";
import { STATUSES } from "../core/result.ts";
import { SessionShape } from "../core/session-schema.ts";
import { ExitShape } from "../executor/native/exit-record.ts";
import type { ApprovedRequest } from "./attestation.ts";

/** Raised when an older worker could misunderstand a newer gateway's request, or the other way round. */
export const WIRE_VERSION = 1;

/** So often is a command run that may run more than once. */
export const MAX_ATTEMPTS = 3;

const name = z.string().min(1).max(256);
export const SessionName = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,62}$/i);
export const SessionId = z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
const timestamp = z.number().min(0);
export const token = z.string().regex(/^[A-Za-z0-9_-]{1,63}$/);

/** A process of a gateway: where news of its sessions go. */
const Address = z.object({ gateway: token, process: token });
export type Address = z.infer<typeof Address>;

/** Read before anything else: of another version only this much is understood. */
export const Envelope = z.object({
  version: z.number(),
  id: SessionId,
  agent: name,
  attempt: z.int().min(1).max(MAX_ATTEMPTS).optional(),
});

/** A command that somebody is to run. The request is a wish: the worker judges and confines it by its own settings. */
const AnyJobMessage = z.object({
  version: z.literal(WIRE_VERSION),
  id: SessionId,
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
  agent: name,
  to: Address,
  /** The name of the workspace it belongs to, and whether its sessions must all run where its files are. */
  workspace: z.object({ name: token, sticky: z.boolean() }),
  background: z.boolean(),
  /** What its gateway calls it, and what tells that one's state folder from all others. Older ones do not say. */
  from: z.object({ home: token, name: SessionName }).optional(),
  /** Paths within the workspace are relative to it. */
  request: RunRequest,
  /** A person's yes, signed: see attestation.ts. */
  statement: z.unknown().optional(),
  sentMs: timestamp,
});

export const JobMessage = AnyJobMessage.refine(
  ({ attempt, request }) => attempt === 1 || request.retry === "idempotent",
  {
    error: "it may not run a second time",
  },
);
export type JobMessage = z.infer<typeof JobMessage>;

/** What a person's yes is bound to: all that decides what runs, where and for whom (promise 2). */
export function approvedRequest({ id, agent, workspace, background, request }: JobMessage): ApprovedRequest {
  return { session: id, agent, request: { workspace: workspace.name, background, ...request } };
}

const SerializedError = z.object({
  type: z.string(),
  message: z.string(),
  recovery: z.array(z.object({ action: z.string(), hint: z.string() })).readonly(),
});

/** What there is to say of an end where the command ran: its files, its folders and its programs are there. */
export const ExitReport = z.object({
  status: z.string(),
  warnings: z.array(z.string()),
  hints: z.array(z.string()),
  error: SerializedError.nullable(),
  logPath: z.string().nullable(),
  lastLines: z.array(z.string()),
});

/** The registry's entry of a session. Creating it is the claim: nobody runs what somebody else has. */
export const RegistryEntry = z.object({
  version: z.number(),
  /** `open`: its worker gave it back unstarted. `forgone`: nobody may start it any more. */
  state: z.enum(["claimed", "ended", "lost", "forgone", "open"]),
  host: token.nullable(),
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
  to: Address,
  background: z.boolean(),
  atMs: timestamp,
  /** Tells one claim from another's: an answer that never came may have been a yes. */
  claim: z.string(),
  record: z.union([ExitShape, z.literal("lost")]).optional(),
  account: ExitReport.optional(),
});
export type RegistryEntry = z.infer<typeof RegistryEntry>;

/** A worker's heartbeat. */
export const WorkerInfo = z.object({
  version: z.number(),
  /** The release of Sallyport it runs. */
  release: z.string(),
  host: token,
  /** Another with each start of the worker's process, and each time it finds the servers again. */
  boot: z.string(),
  labels: z.record(z.string(), z.string()),
  slots: z.int().min(0),
  free: z.int().min(0),
  running: z.int().min(0),
  /** One minute's load average. */
  load: z.number(),
  draining: z.boolean(),
  /** Why it takes no work at the moment; older ones do not say. */
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

/** The agent is said, since ids are chosen by whoever asks. */
const sessionFields = { id: SessionId, agent: name, attempt: z.int() };

/** How a command fares, told to the process that asked for it or watches it. */
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
  /** Another host has the files of its workspace: it is to be sent there. */
  z.object({ kind: z.literal("elsewhere"), ...sessionFields, host: token }),
  z.object({
    kind: z.literal("exited"),
    ...sessionFields,
    host: token,
    /** "lost": its keeper was killed and left no record. */
    record: z.union([ExitShape, z.literal("lost")]),
    account: ExitReport,
    /** The stream of exits has it: who hears of it need not see to that. */
    announced: z.boolean().optional(),
    /** Of a foreground run: all it answers with. Left out where it would not fit, and asked for then. */
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
  /** Answers come as a row of messages under this name, at most `credit` bytes ahead of who reads them. */
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

/** What a background session's end looks like in the stream of exits. */
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

/** The operation, and whose sessions it is about is said by the subject. */
export const LIST_OPERATION = "sessions";
/** Rows of one answer, and about so many bytes: whoever wants more goes on from there. */
export const MAX_LIST_ROWS = 1000;
export const MAX_LIST_BYTES = 1 << 20;
/** What one row may take of them. */
export const MAX_ROW_BYTES = 32 << 10;
/** Nobody's answer may be longer, with all that a row can hold. */
export const MAX_LIST_RESPONSE_BYTES = 4 << 20;
const shortText = z.string().max(1024);
export const ListRequest = z.object({
  /** Those of this home are known to whoever asks. */
  notHome: token,
  status: z.array(z.enum(STATUSES)).max(STATUSES.length).optional(),
  live: z.boolean().optional(),
  limit: z.int().min(1).max(MAX_LIST_ROWS),
  before: z.string().max(64).optional(),
  text: shortText.optional(),
  /** Only the one of this name or id, or whose id begins so. */
  called: shortText.optional(),
  /** Also count all that match. */
  count: z.boolean().optional(),
});
export type ListRequest = z.infer<typeof ListRequest>;

/** Shown as it is: it must be nothing that a terminal would obey. */
const SignalName = z.string().regex(/^SIG[A-Z0-9+-]{1,12}$/) as unknown as z.ZodType<NodeJS.Signals>;
export const ListedRow = z.object({
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
  attempt: z.int().min(1).max(MAX_ATTEMPTS),
});
export type ListedRow = z.infer<typeof ListedRow>;
export const SessionListing = z.object({
  rows: z.array(ListedRow).max(MAX_LIST_ROWS),
  /** There are older ones. */
  more: z.boolean(),
  total: z.int().min(0).nullable(),
});
export type SessionListing = z.infer<typeof SessionListing>;

/** The JSON body of a message or bucket entry, or null when it is not JSON. */
export function parseJson(source: { json(): unknown }): unknown {
  try {
    return source.json();
  } catch {
    return null;
  }
}
