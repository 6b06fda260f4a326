/**
 * What each member of a fleet may publish and hear, so that the servers themselves hold it to that: a worker speaks for
 * its own host only, a gateway hears its own answers only, and one that serves a single agent asks as no other.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { SallyportError } from "../core/error.ts";
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
  | { kind: "gateway"; name: string /** It serves this agent and no other. */; agent?: string | undefined }
  | { kind: "worker"; name: string; labels: readonly [name: string, value: string][] };

export interface Permissions {
  publish: string[];
  subscribe: string[];
  /** Answers to what it was asked, wherever they are wanted. */
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
      // The filter is a part of the subject: nobody makes a consumer for another host's work.
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
      // Where a workspace's files are, whoever takes it up first; and whether it is to take no more work.
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
  const who = agent === undefined ? "*" : agentToken(agent);
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
      // Of a host that is gone, which cannot say so itself.
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

/** What a gateway that serves everybody may do besides: make the fleet's streams, read what gone hosts left, drain. */
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

/** The public nkey of a member whose seed is in this folder as `<kind>-<name>.seed`; made if it is not there. */
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
