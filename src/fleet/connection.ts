import { type JetStreamClient, jetstream } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/transport-node";
import type { FleetOptions } from "../core/settings.ts";
import { joinFleet } from "./connect.ts";
import { type Stores, type Subjects, storesOf, subjectsOf } from "./subjects.ts";

/** A member's connection to its fleet, with the names and stores it uses there. */
export interface Link {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly fleet: string;
  /** Who this is among the members. */
  readonly name: string;
  readonly subjects: Subjects;
  readonly stores: Stores;
  readonly sessions: KV;
  readonly workers: KV;
  readonly places: KV;
}

export async function openLink(options: FleetOptions, kind: "gateway" | "worker"): Promise<Link> {
  const { connection: nc, fleet, name } = await joinFleet(options, kind);
  const js = jetstream(nc);
  const stores = storesOf(fleet);
  const kvm = new Kvm(js);
  // Bound by name, without asking whether they are there: a worker makes them.
  const open = (bucket: string) => kvm.open(bucket);
  const [sessions, workers, places] = [open(stores.sessions), open(stores.workers), open(stores.places)];
  const subjects = subjectsOf(fleet);
  return {
    nc,
    js,
    fleet,
    name,
    subjects,
    stores,
    sessions: await sessions,
    workers: await workers,
    places: await places,
  };
}
