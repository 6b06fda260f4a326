import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { Execution } from "../executor/execution.ts";
import { verifyAttestation } from "../fleet/attestation.ts";
import type { FleetConnection } from "../fleet/connection.ts";
import { versionMismatch } from "../fleet/errors.ts";
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

/** Delay before a message is delivered again whose job another worker has claimed. */
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
  /** Keeps a second delivery of a message from being accepted at the same time. False: it is locked already. */
  lock(local: string): boolean;
  unlock(local: string): void;
  /** The agent of a session that exists here, or null. */
  ownerOf(local: string): string | null;
  /** Stores the claim, so that its end is reported even after a crash. */
  recordClaim(claim: Claim): void;
  launched(claim: Claim, submission: Submission): void;
  failed(claim: Claim, error: SallyportError): void;
  /** Tells the gateway that another host has the files of the job's workspace. */
  redirect(job: JobMessage, host: string): void;
}

/**
 * Turns a message into a running command, or into the reason why it does not run.
 *
 * parse   only the agent in the subject is trusted, because the servers check it
 * claim   creates the entry in the registry: the worker that creates it is the only one that runs the command
 * submit  this machine's own gateway plans the request while the registry answers, then sandboxes and launches it
 * ack     removes the message; a worker that dies before that leaves it to others
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

/** Gateways choose ids: a job with the id of another agent's session is recorded and dropped (promise 7). */
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
    summary: "its id is another agent's session",
    detail: {},
  });
  term(message);
  return true;
}

async function claimAndRun(context: JobContext, job: JobMessage, message: Msg): Promise<void> {
  if (await redirectIfElsewhere(context, job, message)) return;
  const claiming = claimJob(context, job, message);
  const owned = claiming.then((claim) => {
    if (!claim) throw new Error("it is another's");
    context.recordClaim(claim);
  });
  owned.catch(() => {}); // handled below
  const submission = await submitJob(context, job, owned).catch(asError);
  const claim = await claiming;
  if (!claim) return;
  await owned.catch((error) => releaseClaim(context, claim, error)); // a claim that cannot be stored here is left to other workers
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

/** The claim holds already, so the ack of a short command can travel together with its end. */
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
  // A message for another agent than its subject allows is recorded and dropped.
  if (!envelope.success || from?.agent !== agentToken(envelope.data.agent)) {
    const agent = envelope.success ? envelope.data.agent : "unknown";
    const session = envelope.success ? envelope.data.id : "";
    context.gateway.note({ agent, session, outcome: "refused", summary: "a request nobody can have sent", detail: {} });
    term(message);
    return null;
  }
  if (job.success) return job.data;
  rejectMalformed(context, envelope.data, given, message, job.error.issues[0]?.message ?? "").catch(() =>
    nak(message, RETRY_DELAY_MS),
  );
  return null;
}

/** Answers a message of another version with an error, as far as its envelope can be read. */
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
  const text = versionMismatch(context.host, version, WIRE_VERSION);
  const error =
    version === WIRE_VERSION
      ? new SallyportError("InvalidRequest", `The request is malformed: ${why}.`, text[1])
      : new SallyportError("FleetVersion", ...text);
  context.gateway.note({ agent, session: id, outcome: "refused", summary: error.message, detail: { version } });
  if (claim && typeof claim === "object") {
    context.recordClaim(claim);
    context.failed(claim, error);
  }
  ack(message);
}

type ParsedEnvelope = { id: string; agent: string; version: number; attempt?: number | undefined };

/** All members can read entries, so the request is not part of it. */
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

/** "done": it has run, runs or must not run. "later": another worker has it and may still give it back. */
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
  // This worker's own claim, whose response was lost or which a crash kept from being stored.
  const orphan =
    current.entry.state === "claimed" && current.entry.host === host && ownerOf(localId(id, attempt)) === null;
  if (current.entry.state === "claimed" && !orphan) return "later";
  if (current.entry.state !== "open" && !orphan) return "done";
  const changed = await fleetRegistry.update(agent, id, entry, current.revision);
  return changed === null ? "later" : claimed(changed);
}

/** The first host that runs a command in a workspace keeps its files and runs all later ones. */
async function redirectIfElsewhere(context: JobContext, job: JobMessage, message: Msg): Promise<boolean> {
  const { name, sticky } = job.workspace;
  // A request that names a host or a label runs there, wherever the files are.
  if (!sticky || job.request.host !== undefined || job.request.labels) return false;
  const holder = await workspaceHolder(context, name);
  if (holder === context.host) return false;
  // The gateway sends it to that host; if the gateway is gone, it is delivered again until that host pulls it.
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
    if (found?.operation !== "PUT") throw error; // unknown, so not ours
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
  return new SallyportError("SpawnFailed", `The worker failed (${message}).`, [
    { action: "retry", hint: "Try again. The worker's own output may contain more details." },
  ]);
}
