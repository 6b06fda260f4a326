import {
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import type { NatsConnection } from "@nats-io/transport-node";
import { storeNames } from "./subjects.ts";

const NS = 1_000_000;
const HOUR_MS = 3_600_000;
/** Lifetime of a heartbeat. A worker without one is considered lost. */
export const WORKER_TTL_MS = 6000;
/** Time during which the servers drop duplicate messages. */
const EXIT_WINDOW_MS = HOUR_MS;
const WORK_WINDOW_MS = HOUR_MS / 6;
/** Messages and archived logs expire (invariant 6). */
const WORK_AGE_MS = 24 * HOUR_MS;
const EXIT_AGE_MS = 7 * 24 * HOUR_MS;
const LOG_AGE_MS = 7 * 24 * HOUR_MS;
/** Lifetime of a registry entry, which the worker renews while the session runs. */
const SESSION_AGE_MS = 7 * 24 * HOUR_MS;
/**
 * A full job stream rejects new jobs. A full exit stream drops the oldest exits, so that no member can block others.
 */
const WORK_BYTES = 512 << 20;
const EXIT_BYTES = 256 << 20;

interface FleetStores {
  manager: JetStreamManager;
  sessions: KV;
  workers: KV;
  places: KV;
}

interface StoreOptions {
  /** Number of servers that store each stream. Default: 3 in a cluster, otherwise 1. */
  replicas?: number | null;
}

/** Opens the streams and buckets of a fleet and creates missing ones, which requires an operator's permissions. */
export async function ensureStores(
  connection: NatsConnection,
  fleet: string,
  { replicas = null }: StoreOptions = {},
): Promise<FleetStores> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const names = storeNames(fleet);
  const copies = replicas ?? (connection.info?.cluster === undefined ? 1 : 3);
  await Promise.all(streamsOf(fleet).map((config) => ensureStream(manager, { ...config, num_replicas: copies })));
  const kv = new Kvm(connection);
  const bucket = async (name: string, ttl: number) =>
    (await exists(manager, `KV_${name}`))
      ? kv.open(name)
      : // Direct gets are disabled: a lagging replica could answer them, and a claim must be visible at once.
        kv.create(name, { ttl, history: 1, replicas: copies, storage: StorageType.File, allow_direct: false });
  const [sessions, workers, places] = await Promise.all([
    bucket(names.sessions, SESSION_AGE_MS),
    bucket(names.workers, WORKER_TTL_MS),
    bucket(names.places, 0),
    ensureLogs(connection, manager, names.logs, copies),
  ]);
  return { manager, sessions, workers, places };
}

async function ensureLogs(
  nc: NatsConnection,
  manager: JetStreamManager,
  name: string,
  replicas: number,
): Promise<void> {
  if (await exists(manager, `OBJ_${name}`)) return;
  await new Objm(nc).create(name, { ttl: LOG_AGE_MS * NS, replicas, storage: StorageType.File });
}

function streamsOf(fleet: string): (Partial<StreamConfig> & { name: string })[] {
  const names = storeNames(fleet);
  return [
    {
      name: names.work,
      subjects: [`sp.${fleet}.work.>`],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      storage: StorageType.File,
      duplicate_window: WORK_WINDOW_MS * NS,
      max_age: WORK_AGE_MS * NS,
      max_bytes: WORK_BYTES,
    },
    {
      name: names.exits,
      subjects: [`sp.${fleet}.exit.>`],
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      storage: StorageType.File,
      duplicate_window: EXIT_WINDOW_MS * NS,
      max_age: EXIT_AGE_MS * NS,
      max_bytes: EXIT_BYTES,
    },
  ];
}

async function ensureStream(
  manager: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<void> {
  if (!(await exists(manager, config.name))) await manager.streams.add(config);
}

async function exists(manager: JetStreamManager, stream: string): Promise<boolean> {
  try {
    await manager.streams.info(stream);
    return true;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound) return false;
    throw error;
  }
}
