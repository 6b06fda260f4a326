import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { KV } from "@nats-io/kv";
import { SallyportError } from "../core/error.ts";
import type { FleetClient } from "./client.ts";
import { noWorker, workspaceHostDown } from "./errors.ts";
import type { Place } from "./subjects.ts";
import { sanitizeName } from "./subjects.ts";
import type { JobMessage, WorkerInfo } from "./wire.ts";

/** The host of a workspace does not change while it is alive, so it is cached. */
const HOST_CACHE_MS = 5000;

const hostCache = new WeakMap<KV, Map<string, { host: string; untilMs: number }>>();

export const workspaceKey = (workspace: string): string => `workspace.${workspace}`;

/**
 * The queue for a command: the host or label of the request, else the host that has the workspace's files, else any
 * worker with a free slot.
 */
export async function choosePlace(client: FleetClient, { request, workspace }: JobMessage): Promise<Place> {
  if (request.host !== undefined) return { host: request.host };
  const labels = Object.entries(request.labels ?? {});
  const [first] = labels;
  if (first && labels.length === 1) return { label: first };
  if (labels.length > 1) return { host: await hostWithLabels(client, labels) };
  const host = workspace.sticky ? await workspaceHost(client, workspace.name) : null;
  return host === null ? "any" : { host };
}

/** Describes the requirement that no live worker meets; null when a worker could run it. */
export async function unmetRequirement(
  client: FleetClient,
  { host, labels = {} }: JobMessage["request"],
): Promise<string | null> {
  const isEligible = (worker: WorkerInfo) =>
    (host === undefined || worker.host === host) &&
    Object.entries(labels).every(([key, value]) => worker.labels[key] === value);
  if ((await client.hosts.list()).some(isEligible)) return null;
  return host === undefined ? (Object.keys(labels).length > 0 ? "with these labels" : "") : `on \`${host}\``;
}

/** A queue has one label. For several, the least busy worker that has them all is chosen. */
async function hostWithLabels(client: FleetClient, labels: [string, string][]): Promise<string> {
  const isEligible = (await client.hosts.list()).filter(
    (worker) => !worker.draining && !worker.trouble && labels.every(([key, value]) => worker.labels[key] === value),
  );
  const best = isEligible.reduce<(typeof isEligible)[number] | null>(
    (a, b) => (a === null || b.free > a.free ? b : a),
    null,
  );
  if (!best) throw new SallyportError("NoWorker", ...noWorker("with these labels"));
  return best.host;
}

async function workspaceHost(client: FleetClient, workspace: string): Promise<string | null> {
  const bucket = client.connection.places;
  const hosts = hostCache.get(bucket) ?? new Map<string, { host: string; untilMs: number }>();
  hostCache.set(bucket, hosts);
  const cached = hosts.get(workspace);
  if (cached && cached.untilMs > performance.now()) return cached.host;
  const found = await bucket.get(workspaceKey(workspace));
  if (found?.operation !== "PUT") return null;
  const host = found.string();
  if (!(await client.hosts.get(host))) {
    throw new SallyportError("NoWorker", ...workspaceHostDown(workspace, host));
  }
  hosts.set(workspace, { host, untilMs: performance.now() + HOST_CACHE_MS });
  return host;
}

/** The name of a workspace on workers: readable, and unique for each folder of each gateway. */
export function workspaceName(gateway: string, folder: string): string {
  const hash = createHash("sha256").update(`${gateway}\0${folder}`).digest("hex").slice(0, 12);
  return `${sanitizeName(basename(folder)).slice(0, 40)}-${hash}`;
}
