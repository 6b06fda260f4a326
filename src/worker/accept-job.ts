import { randomUUID } from "node:crypto";
import type { Msg } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import type { Execution } from "../executor/executor.ts";
import { checkStatement } from "../fleet/attestation.ts";
import type { Link } from "../fleet/connection.ts";
import { otherVersion } from "../fleet/errors.ts";
import type { TrustedKeys } from "../fleet/keys.ts";
import { workspaceKey } from "../fleet/placement.ts";
import type { Book } from "../fleet/registry.ts";
import { agentToken } from "../fleet/subjects.ts";
import { approvedPart, type Entry, Envelope, JobMessage, WIRE_VERSION } from "../fleet/wire.ts";
import type { Submission } from "../gateway/submit.ts";
import type { WorkerGateway } from "../gateway/worker-gateway.ts";
import type { Claim } from "./claims.ts";
import { localId } from "./claims.ts";
import { ack, giveBack, terminate } from "./puller.ts";

/** Somebody has it who is not done with it: it is asked about again after this long. */
const LOOK_AGAIN_MS = 5000;
const ELSEWHERE_MS = 1000;
const TELL_TOGETHER_MS = 25;

/** What taking a piece of work needs of its worker. */
export interface Post {
  link: Link;
  book: Book;
  door: WorkerGateway;
  host: string;
  trusted: TrustedKeys;
  /** Keeps a second delivery of the same message from being taken while the first is. False: it is. */
  begin(local: string): boolean;
  done(local: string): void;
  /** Whose it is, if anything of it ever began here. */
  ownerOf(local: string): string | null;
  /** It is ours: from here on it is told of, whatever happens. */
  took(claim: Claim): void;
  launched(claim: Claim, submission: Submission): void;
  failed(claim: Claim, error: SallyportError): void;
  /** Another host has the files it is about. */
  elsewhere(work: JobMessage, host: string): void;
}

/**
 * From a message to a running command, or to the reason why not.
 *
 * read    nothing of it is trusted but which agent the servers let it come from
 * claim   one entry in the registry: whoever makes it runs the command, and nobody else ever does
 * take    the door of this machine: judged while the registry answers, then confined and launched by its own settings
 * ack     only now is the message gone: a worker that dies before leaves it to others
 */
export async function takeWork(post: Post, message: Msg): Promise<void> {
  const work = read(post, message);
  if (!work) return;
  const local = localId(work.id, work.attempt);
  if (!post.begin(local)) return giveBack(message, LOOK_AGAIN_MS);
  try {
    if (!isAnothers(post, work, local, message)) await takeIt(post, work, message);
  } finally {
    post.done(local);
  }
}

/** Ids are told by gateways: one that names another agent's session is not answered, only written down (promise 7). */
function isAnothers(post: Post, { id, agent }: Pick<JobMessage, "id" | "agent">, local: string, message: Msg): boolean {
  const owner = post.ownerOf(local);
  if (owner === null || owner === agent) return false;
  post.door.note({ agent, session: id, outcome: "refused", summary: "its id is another agent's session", detail: {} });
  terminate(message);
  return true;
}

async function takeIt(post: Post, work: JobMessage, message: Msg): Promise<void> {
  if (await belongsElsewhere(post, work, message)) return;
  const claiming = claimIt(post, work, message);
  const ours = claiming.then((claim) => {
    if (!claim) throw new Error("it is another's");
    post.took(claim);
  });
  ours.catch(() => {}); // told below
  const taking = await take(post, work, ours).catch(asAnswer);
  const claim = await claiming;
  if (!claim) return;
  await ours.catch((error) => giveUp(post, claim, error)); // what could not be noted here is left to whoever can
  if (taking instanceof SallyportError) post.failed(claim, taking);
  else post.launched(claim, taking);
  ackSoon(message, taking instanceof SallyportError ? null : taking.execution);
}

/** Nothing of it began here. */
async function giveUp({ book }: Post, { agent, id, entry, revision }: Claim, error: unknown): Promise<never> {
  await book.change(agent, id, { ...entry, state: "open", host: null }, revision);
  throw error;
}

/** The claim holds: that the message is done with can be told together with the end of a short command. */
function ackSoon(message: Msg, execution: Execution | null): void {
  let told = false;
  const tell = () => {
    if (!told) ack(message);
    told = true;
  };
  setTimeout(tell, execution ? TELL_TOGETHER_MS : 0).unref();
  void execution?.exited.then(tell);
}

function read(post: Post, message: Msg): JobMessage | null {
  const { subjects } = post.link;
  const from = subjects.parseWork(message.subject);
  const given = json(message);
  const work = JobMessage.safeParse(given);
  const envelope = work.success ? work : Envelope.safeParse(given);
  // Who speaks for another agent than the servers let it is not answered, only written down.
  if (!envelope.success || from?.agent !== agentToken(envelope.data.agent)) {
    const agent = envelope.success ? envelope.data.agent : "unknown";
    const session = envelope.success ? envelope.data.id : "";
    post.door.note({ agent, session, outcome: "refused", summary: "a request nobody can have sent", detail: {} });
    terminate(message);
    return null;
  }
  if (work.success) return work.data;
  refuseVersion(post, envelope.data, given, message, work.error.issues[0]?.message ?? "").catch(() =>
    giveBack(message, LOOK_AGAIN_MS),
  );
  return null;
}

/** One of another version is answered as far as it can be understood: with a clear word instead of silence. */
async function refuseVersion(
  post: Post,
  { id, agent, version, attempt = 1 }: Opened,
  given: unknown,
  message: Msg,
  why: string,
): Promise<void> {
  if (isAnothers(post, { id, agent }, localId(id, attempt), message)) return;
  const to = JobMessage.shape.to.safeParse((given as { to?: unknown }).to);
  const background = (given as { background?: unknown }).background === true;
  const claim = to.success
    ? await claimEntry(post, { id, agent, attempt }, entryOf(post, { attempt, to: to.data, background }))
    : null;
  const words = otherVersion(post.host, version, WIRE_VERSION);
  const error =
    version === WIRE_VERSION
      ? new SallyportError("InvalidRequest", `The request is not well formed: ${why}.`, words[1])
      : new SallyportError("FleetVersion", ...words);
  post.door.note({ agent, session: id, outcome: "refused", summary: error.message, detail: { version } });
  if (claim && typeof claim === "object") {
    post.took(claim);
    post.failed(claim, error);
  }
  ack(message);
}

type Opened = { id: string; agent: string; version: number; attempt?: number | undefined };

/** All members can read it: nothing of what is to run is in it. */
function entryOf({ host }: Post, { attempt, to, background }: Pick<Entry, "attempt" | "to" | "background">): Entry {
  const claim = randomUUID();
  return { version: WIRE_VERSION, state: "claimed", host, attempt, to, background, atMs: Date.now(), claim };
}

async function claimIt(post: Post, work: JobMessage, message: Msg): Promise<Claim | null> {
  const claim = await claimEntry(post, work, entryOf(post, work));
  if (claim === "later") giveBack(message, LOOK_AGAIN_MS);
  else if (claim === "done") ack(message);
  return typeof claim === "string" ? null : claim;
}

/** Never twice: "done" where it has run, runs or must not run; "later" where somebody may yet give it back. */
async function claimEntry(
  { book, host, ownerOf }: Post,
  { id, agent, attempt }: { id: string; agent: string; attempt: number },
  entry: Entry,
): Promise<Claim | "done" | "later"> {
  const claimed = (revision: number): Claim => ({ id, agent, local: localId(id, attempt), entry, revision });
  const made = attempt === 1 ? await book.create(agent, id, entry) : null;
  if (made !== null) return claimed(made);
  const seen = await book.read(agent, id);
  if (!seen || seen.entry.attempt < attempt) return "later";
  if (seen.entry.attempt > attempt) return "done";
  // Our own claim, of which we never heard that it was made, or were killed before we could note it.
  const orphan = seen.entry.state === "claimed" && seen.entry.host === host && ownerOf(localId(id, attempt)) === null;
  if (seen.entry.state === "claimed" && !orphan) return "later";
  if (seen.entry.state !== "open" && !orphan) return "done";
  const changed = await book.change(agent, id, entry, seen.revision);
  return changed === null ? "later" : claimed(changed);
}

/** A workspace's files are on one host: whoever takes it up first, and from then on always that one. */
async function belongsElsewhere(post: Post, work: JobMessage, message: Msg): Promise<boolean> {
  const { name, sticky } = work.workspace;
  // Who names a host or a label wants that one, whatever files are there.
  if (!sticky || work.request.host !== undefined || work.request.labels) return false;
  const holder = await holderOf(post, name);
  if (holder === post.host) return false;
  // Its gateway is told where to send it; where that is gone, it comes round until that host takes it.
  post.elsewhere(work, holder);
  giveBack(message, ELSEWHERE_MS);
  return true;
}

const holders = new WeakMap<Link, Set<string>>();

async function holderOf({ link, host }: Post, workspace: string): Promise<string> {
  const ours = holders.get(link) ?? new Set<string>();
  holders.set(link, ours);
  if (ours.has(workspace)) return host;
  const key = workspaceKey(workspace);
  try {
    await link.places.create(key, host);
  } catch (error) {
    const found = await link.places.get(key);
    if (found?.operation !== "PUT") throw error; // not known, so not ours
    if (found.string() !== host) return found.string();
  }
  ours.add(workspace);
  return host;
}

function take({ door, trusted }: Post, work: JobMessage, ours: Promise<void>): Promise<Submission> {
  const { id, attempt, agent, background, request, workspace, statement, to, from } = work;
  return door.take({
    id: localId(id, attempt),
    ours,
    askedBy: { gateway: to.gateway, home: from?.home ?? "", id, attempt, name: from?.name ?? null },
    agent,
    background,
    request,
    workspace: workspace.name,
    vouch: () => {
      const { gateway, approval, approvers } = checkStatement(statement, approvedPart(work), trusted);
      return { gateway, approval, approvers };
    },
  });
}

function asAnswer(error: unknown): SallyportError {
  if (error instanceof SallyportError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new SallyportError("SpawnFailed", `The worker failed: ${message}`, [
    { action: "retry", hint: "Try again; the worker's own output may tell more." },
  ]);
}

function json(message: Msg): unknown {
  try {
    return message.json();
  } catch {
    return null;
  }
}
