import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { KV } from "@nats-io/kv";
import { SallyportError } from "../core/error.ts";
import type { FleetClient } from "./client.ts";
import { noWorker, workspaceHostDown } from "./errors.ts";
import type { Place } from "./subjects.ts";
import { sanitizeName } from "./subjects.ts";
import type { JobMessage, WorkerInfo } from "./wire.ts";

/** How long the host of a workspace is cached. It does not change while the host is up. */
const HOST_CACHE_MS = 5000;

const hostCache = new WeakMap<KV, Map<string, { host: string; untilMs: number }>>();

export const workspaceKey = (workspace: string): string => `workspace.${workspace}`;

/**
 * Returns the queue for a command: the requested host or label, otherwise the host that has the files of the workspace,
 * otherwise the queue that all workers share.
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

/** Describes the requirement that no live worker meets, as a qualifier of "worker". Null when a worker meets it. */
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

/** Returns the worker with the most free slots that has all labels: a queue has one label only. */
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

/** Returns the name of a workspace on workers, which is readable and unique for each folder of each gateway. */
export function workspaceName(gateway: string, folder: string): string {
  const hash = createHash("sha256").update(`${gateway}\0${folder}`).digest("hex").slice(0, 12);
  return `${sanitizeName(basename(folder)).slice(0, 40)}-${hash}`;
}
