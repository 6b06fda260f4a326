/**
 * The subjects to which each member of a fleet may publish and subscribe. The servers enforce them: a worker publishes
 * only for its own host, a gateway receives only its own responses, and a gateway that serves a single agent cannot act
 * for another.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
import { agentName } from "../core/names.ts";
import { credentialsUnusable } from "./errors.ts";
import {
  agentToken,
  consumerName,
  inboxPrefix,
  type Place,
  placeTokens,
  storeNames,
  validateName,
} from "./subjects.ts";

export type FleetMember =
  | {
      kind: "gateway";
      name: string /** The only agent that the gateway serves. Default: all. */;
      agent?: string | undefined;
    }
  | { kind: "worker"; name: string; labels: readonly [name: string, value: string][] };

export interface Permissions {
  publish: string[];
  subscribe: string[];
  /** Whether the member may respond to requests on any reply subject. */
  responses: boolean;
}

export function permissionsOf(fleet: string, member: FleetMember): Permissions {
  validateName(member.kind, member.name);
  return member.kind === "worker" ? workerPermissions(fleet, member) : gatewayPermissions(fleet, member);
}

function workerPermissions(fleet: string, { name, labels }: FleetMember & { kind: "worker" }): Permissions {
  const { work, exits, sessions, workers, places: placesBucket, logs } = storeNames(fleet);
  const places: Place[] = ["any", { host: name }, ...labels.map((label): Place => ({ label: [...label] }))];
  const consumerSubjects = places.flatMap((place) => {
    const consumer = consumerName(place);
    return [
      // The filter is part of the subject, so that a worker cannot create a consumer for jobs of another host.
      `$JS.API.CONSUMER.CREATE.${work}.${consumer}.sp.${fleet}.work.${placeTokens(place)}.*`,
      `$JS.API.CONSUMER.INFO.${work}.${consumer}`,
      `$JS.API.CONSUMER.MSG.NEXT.${work}.${consumer}`,
      `$JS.ACK.${work}.${consumer}.>`,
    ];
  });
  return {
    publish: [
      "$JS.API.INFO",
      ...[work, exits, `KV_${sessions}`, `KV_${workers}`, `KV_${placesBucket}`, `OBJ_${logs}`].map(
        (each) => `$JS.API.STREAM.INFO.${each}`,
      ),
      ...consumerSubjects,
      `$KV.${sessions}.>`,
      `$JS.API.STREAM.MSG.GET.KV_${sessions}`,
      `$KV.${workers}.${name}`,
      // The hosts of workspaces, and this worker's drain state.
      `$KV.${placesBucket}.workspace.*`,
      `$KV.${placesBucket}.drain.${name}`,
      `$JS.API.STREAM.MSG.GET.KV_${placesBucket}`,
      `$JS.API.STREAM.MSG.GET.KV_${workers}`,
      `$O.${logs}.>`,
      `$JS.API.STREAM.MSG.GET.OBJ_${logs}`,
      `sp.${fleet}.res.*.${name}.>`,
      `sp.${fleet}.exit.${name}.>`,
    ],
    subscribe: [`${inboxPrefix(fleet, "worker", name)}.>`, `sp.${fleet}.ctl.${name}.>`, `sp.${fleet}.node.${name}.*`],
    responses: true,
  };
}

function gatewayPermissions(fleet: string, { name, agent }: FleetMember & { kind: "gateway" }): Permissions {
  const who = agent === undefined ? "*" : agentToken(agentName(agent));
  const { work, exits, sessions, workers, places, logs } = storeNames(fleet);
  const streams = [work, exits, `KV_${sessions}`, `KV_${workers}`, `KV_${places}`, `OBJ_${logs}`];
  const own = `gateway=${name}`;
  return {
    publish: [
      "$JS.API.INFO",
      ...streams.map((each) => `$JS.API.STREAM.INFO.${each}`),
      `sp.${fleet}.work.any.${who}`,
      `sp.${fleet}.work.host.*.${who}`,
      `sp.${fleet}.work.label.*.*.${who}`,
      `sp.${fleet}.ctl.*.${who}.*`,
      // Exits of sessions whose host is lost.
      `sp.${fleet}.exit.*.${who}.*`,
      `$KV.${sessions}.${who}.*`,
      `$JS.API.STREAM.MSG.GET.KV_${sessions}`,
      `$JS.API.STREAM.MSG.GET.KV_${workers}`,
      `$JS.API.STREAM.MSG.GET.KV_${places}`,
      `$JS.API.CONSUMER.CREATE.${exits}.${own}.sp.${fleet}.exit.*.${who}.*`,
      `$JS.API.CONSUMER.INFO.${exits}.${own}`,
      `$JS.API.CONSUMER.MSG.NEXT.${exits}.${own}`,
      `$JS.ACK.${exits}.${own}.>`,
      "$JS.FC.>",
      ...(agent === undefined ? operatorPermissions(fleet, streams) : []),
    ],
    subscribe: [`${inboxPrefix(fleet, "gateway", name)}.>`, `sp.${fleet}.res.${name}.>`],
    responses: false,
  };
}

/** Returns the additional permissions of a gateway that serves all agents: streams, archived logs and draining. */
function operatorPermissions(fleet: string, streams: string[]): string[] {
  const { logs } = storeNames(fleet);
  return [
    ...streams.flatMap((each) => [`$JS.API.STREAM.CREATE.${each}`, `$JS.API.STREAM.UPDATE.${each}`]),
    `$JS.API.CONSUMER.CREATE.OBJ_${logs}.>`,
    `$JS.API.CONSUMER.DELETE.OBJ_${logs}.*`,
    `$JS.API.STREAM.MSG.GET.OBJ_${logs}`,
    `$JS.API.STREAM.PURGE.OBJ_${logs}`,
    `$O.${logs}.M.>`,
    `sp.${fleet}.node.*.*`,
  ];
}

/** Returns the public nkey of a member, whose seed is in `<kind>-<name>.seed`. Creates the seed if it is missing. */
export function memberPublicKey(folder: string, { kind, name }: { kind: "gateway" | "worker"; name: string }): string {
  const file = join(folder, `${kind}-${validateName(kind, name)}.seed`);
  try {
    return nkeys.fromSeed(readFileSync(file).subarray(0, 58)).getPublicKey();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw new SallyportError("InvalidConfiguration", ...credentialsUnusable(file, (error as Error).message));
    }
  }
  const made = nkeys.createUser();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, `${Buffer.from(made.getSeed())}\n`, { mode: 0o600, flag: "wx" });
  return made.getPublicKey();
}
