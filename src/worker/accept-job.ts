import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { Execution } from "../executor/execution.ts";
import { verifyAttestation } from "../fleet/attestation.ts";
import type { FleetConnection } from "../fleet/connection.ts";
import { malformedJob, versionMismatch } from "../fleet/errors.ts";
import type { TrustedKeys } from "../fleet/keys.ts";
import { workspaceKey } from "../fleet/placement.ts";
import type { FleetRegistry } from "../fleet/registry.ts";
import { agentToken } from "../fleet/subjects.ts";
import { approvedRequest, Envelope, JobMessage, parseJson, type RegistryEntry, WIRE_VERSION } from "../fleet/wire.ts";
import type { Submission } from "../gateway/submit.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { Claim } from "./claims.ts";
import { localId } from "./claims.ts";
import { ack, nak, term } from "./puller.ts";

/** Delay before the message of a job that another worker has claimed is delivered again. */
const RETRY_DELAY_MS = 5000;
const REDIRECT_DELAY_MS = 1000;
const ACK_DELAY_MS = 25;

/** The parts of a worker that accepting a job needs. */
export interface JobContext {
  connection: FleetConnection;
  fleetRegistry: FleetRegistry;
  gateway: WorkerGateway;
  host: string;
  trusted: TrustedKeys;
  /** Prevents concurrent processing of a message that is delivered twice. Returns false when it is already locked. */
  lock(local: string): boolean;
  unlock(local: string): void;
  /** Returns the agent of a session of this worker, or null when there is no such session. */
  ownerOf(local: string): string | null;
  /** Stores the claim on disk, so that the end of its session is reported even after a crash. */
  recordClaim(claim: Claim): void;
  launched(claim: Claim, submission: Submission): void;
  failed(claim: Claim, error: SallyportError): void;
  /** Notifies the gateway that another host has the files of the job's workspace. */
  redirect(job: JobMessage, host: string): void;
}

/**
 * Processes one job message, up to a running command or a reported failure.
 *
 * parse   validates the message; only the agent in its subject is trusted, because the servers enforce it
 * claim   creates the registry entry: only the worker that creates it runs the command
 * submit  plans the request on this machine's own gateway while the registry responds, then sandboxes and launches it
 * ack     removes the message from the queue; if the worker crashes before that, another worker receives the message
 */
export async function acceptJob(context: JobContext, message: Msg): Promise<void> {
  const job = parseJob(context, message);
  if (!job) return;
  const local = localId(job.id, job.attempt);
  if (!context.lock(local)) return nak(message, RETRY_DELAY_MS);
  try {
    if (!belongsToOtherAgent(context, job, local, message)) await claimAndRun(context, job, message);
  } finally {
    context.unlock(local);
  }
}

/** Rejects a job with the ID of another agent's session and audits it: gateways choose IDs (invariant 7). */
function belongsToOtherAgent(
  context: JobContext,
  { id, agent }: Pick<JobMessage, "id" | "agent">,
  local: string,
  message: Msg,
): boolean {
  const owner = context.ownerOf(local);
  if (owner === null || owner === agent) return false;
  context.gateway.note({
    agent,
    session: id,
    outcome: "refused",
    summary: "Job rejected: its id belongs to a session of another agent",
    detail: {},
  });
  term(message);
  return true;
}

async function claimAndRun(context: JobContext, job: JobMessage, message: Msg): Promise<void> {
  if (await redirectIfElsewhere(context, job, message)) return;
  const claiming = claimJob(context, job, message);
  const owned = claiming.then((claim) => {
    if (!claim) throw new Error("another worker has claimed the job");
    context.recordClaim(claim);
  });
  owned.catch(() => {}); // handled below
  const submission = await submitJob(context, job, owned).catch(asError);
  const claim = await claiming;
  if (!claim) return;
  // A claim that cannot be stored on disk is released, so that another worker can take the job.
  await owned.catch((error) => releaseClaim(context, claim, error));
  if (submission instanceof SallyportError) context.failed(claim, submission);
  else context.launched(claim, submission);
  ackAfterLaunch(message, submission instanceof SallyportError ? null : submission.execution);
}

async function releaseClaim(
  { fleetRegistry }: JobContext,
  { agent, id, entry, revision }: Claim,
  error: unknown,
): Promise<never> {
  await fleetRegistry.update(agent, id, { ...entry, state: "open", host: null }, revision);
  throw error;
}

/** Acknowledges the message with a short delay, so that the ack and the end of a short command are sent together. */
function ackAfterLaunch(message: Msg, execution: Execution | null): void {
  let acked = false;
  const ackOnce = () => {
    if (!acked) ack(message);
    acked = true;
  };
  setTimeout(ackOnce, execution ? ACK_DELAY_MS : 0).unref();
  void execution?.exited.then(ackOnce);
}

function parseJob(context: JobContext, message: Msg): JobMessage | null {
  const { subjects } = context.connection;
  const from = subjects.parseWork(message.subject);
  const given = parseJson(message);
  const job = JobMessage.safeParse(given);
  const envelope = job.success ? job : Envelope.safeParse(given);
  // A message for an agent other than the one in its subject is audited and dropped.
  if (!envelope.success || from?.agent !== agentToken(envelope.data.agent)) {
    const agent = envelope.success ? envelope.data.agent : "unknown";
    const session = envelope.success ? envelope.data.id : "";
    const summary = "Job rejected: it is malformed, or its agent does not match its subject";
    context.gateway.note({ agent, session, outcome: "refused", summary, detail: {} });
    term(message);
    return null;
  }
  if (job.success) return job.data;
  rejectMalformed(context, envelope.data, given, message, job.error.issues[0]?.message ?? "").catch(() =>
    nak(message, RETRY_DELAY_MS),
  );
  return null;
}

/** Reports an error for a malformed job or one of another version. Only its envelope can be read. */
async function rejectMalformed(
  context: JobContext,
  { id, agent, version, attempt = 1 }: ParsedEnvelope,
  given: unknown,
  message: Msg,
  why: string,
): Promise<void> {
  if (belongsToOtherAgent(context, { id, agent }, localId(id, attempt), message)) return;
  const to = JobMessage.shape.to.safeParse((given as { to?: unknown }).to);
  const background = (given as { background?: unknown }).background === true;
  const claim = to.success
    ? await claimEntry(context, { id, agent, attempt }, newEntry(context, { attempt, to: to.data, background }))
    : null;
  const error =
    version === WIRE_VERSION
      ? new SallyportError("InvalidRequest", ...malformedJob(why))
      : new SallyportError("FleetVersion", ...versionMismatch(context.host, version, WIRE_VERSION));
  context.gateway.note({ agent, session: id, outcome: "refused", summary: error.message, detail: { version } });
  if (claim && typeof claim === "object") {
    context.recordClaim(claim);
    context.failed(claim, error);
  }
  ack(message);
}

type ParsedEnvelope = { id: string; agent: string; version: number; attempt?: number | undefined };

/** Returns a new registry entry. It does not contain the request, because all members can read the registry. */
function newEntry(
  { host }: JobContext,
  { attempt, to, background }: Pick<RegistryEntry, "attempt" | "to" | "background">,
): RegistryEntry {
  const claim = randomUUID();
  return { version: WIRE_VERSION, state: "claimed", host, attempt, to, background, atMs: Date.now(), claim };
}

async function claimJob(context: JobContext, job: JobMessage, message: Msg): Promise<Claim | null> {
  const claim = await claimEntry(context, job, newEntry(context, job));
  if (claim === "later") nak(message, RETRY_DELAY_MS);
  else if (claim === "done") ack(message);
  return typeof claim === "string" ? null : claim;
}

/**
 * Claims a session in the registry. Returns "done" when it has run, is running or must not run, and "later" when
 * another worker has claimed it but may still release it.
 */
async function claimEntry(
  { fleetRegistry, host, ownerOf }: JobContext,
  { id, agent, attempt }: { id: string; agent: string; attempt: number },
  entry: RegistryEntry,
): Promise<Claim | "done" | "later"> {
  const claimed = (revision: number): Claim => ({ id, agent, local: localId(id, attempt), entry, revision });
  const created = attempt === 1 ? await fleetRegistry.create(agent, id, entry) : null;
  if (created !== null) return claimed(created);
  const current = await fleetRegistry.read(agent, id);
  if (!current || current.entry.attempt < attempt) return "later";
  if (current.entry.attempt > attempt) return "done";
  // An orphan is a claim of this worker whose response was lost, or which was not stored on disk before a crash.
  const orphan =
    current.entry.state === "claimed" && current.entry.host === host && ownerOf(localId(id, attempt)) === null;
  if (current.entry.state === "claimed" && !orphan) return "later";
  if (current.entry.state !== "open" && !orphan) return "done";
  const changed = await fleetRegistry.update(agent, id, entry, current.revision);
  return changed === null ? "later" : claimed(changed);
}

/** Redirects a job to the host that has the files of its workspace: the first one that ran a command in it. */
async function redirectIfElsewhere(context: JobContext, job: JobMessage, message: Msg): Promise<boolean> {
  const { name, sticky } = job.workspace;
  // A requested host or label takes precedence over the location of the files.
  if (!sticky || job.request.host !== undefined || job.request.labels) return false;
  const holder = await workspaceHolder(context, name);
  if (holder === context.host) return false;
  // The gateway sends the job to that host. If the gateway is gone, the message is redelivered until that host pulls
  // it.
  context.redirect(job, holder);
  nak(message, REDIRECT_DELAY_MS);
  return true;
}

const ownWorkspaces = new WeakMap<FleetConnection, Set<string>>();

async function workspaceHolder({ connection, host }: JobContext, workspace: string): Promise<string> {
  const own = ownWorkspaces.get(connection) ?? new Set<string>();
  ownWorkspaces.set(connection, own);
  if (own.has(workspace)) return host;
  const key = workspaceKey(workspace);
  try {
    await connection.places.create(key, host);
  } catch (error) {
    const found = await connection.places.get(key);
    if (found?.operation !== "PUT") throw error; // the holder is unknown
    if (found.string() !== host) return found.string();
  }
  own.add(workspace);
  return host;
}

function submitJob({ gateway, trusted }: JobContext, job: JobMessage, ours: Promise<void>): Promise<Submission> {
  const { id, attempt, agent, background, request, workspace, statement, to, from } = job;
  return gateway.take({
    id: localId(id, attempt),
    ours,
    askedBy: { gateway: to.gateway, home: from?.home ?? "", id, attempt, name: from?.name ?? null },
    agent,
    background,
    request,
    workspace: workspace.name,
    vouch: () => {
      const { gateway, approval, approvers } = verifyAttestation(statement, approvedRequest(job), trusted);
      return { gateway, approval, approvers };
    },
  });
}

function asError(error: unknown): SallyportError {
  if (error instanceof SallyportError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SallyportError("SpawnFailed", `The worker could not start the command: ${message}`, [
    { action: "retry", hint: "Try again. If it fails again, check the output of the worker process." },
  ]);
}
