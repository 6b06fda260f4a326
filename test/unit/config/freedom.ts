import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { JsonSchema } from "../../../src/config/schema.ts";
import { configJsonSchema } from "../../../src/config/schema.ts";
import type { UserRule } from "../../../src/core/policy.ts";
import type { Settings } from "../../../src/core/settings.ts";

/**
 * A second definition of strictness, independent of the merge rules: returns true if `now` allows nothing that `before`
 * did not allow. A test compares the two definitions.
 */
type NoFreer = (now: never, before: never) => boolean;

const ranked =
  (...strict: string[]): NoFreer =>
  (now: string, before: string) =>
    strict.indexOf(now) <= strict.indexOf(before) && strict.includes(now);

/** Compares outcomes for each case: 0 runs, 1 requires approval, 2 is denied. */
const outcomes =
  (table: Record<string, readonly number[]>): NoFreer =>
  (now: string, before: string) =>
    (table[now] ?? []).every((outcome, index) => outcome >= (table[before]?.[index] ?? 9));

const noMore: NoFreer = (now: number | null, before: number | null) =>
  before === null || (now !== null && now <= before);
const holds = (list: readonly unknown[], one: unknown) => list.some((other) => isDeepStrictEqual(one, other));
const noNewEntry: NoFreer = (now: unknown[] | null, before: unknown[] | null) =>
  before === null || (now?.every((one) => holds(before, one)) ?? false);
const noLostEntry: NoFreer = (now: unknown[], before: unknown[]) => before.every((one) => now.includes(one));
const same: NoFreer = (now: unknown, before: unknown) => isDeepStrictEqual(now, before);
const notSwitchedOn: NoFreer = (now: boolean, before: boolean) => before || !now;
const tier: NoFreer = (now: string | null, before: string | null) =>
  ["deny", "ask", "notify", "autonomous"].indexOf(now ?? "autonomous") <=
    ["deny", "ask", "notify", "autonomous"].indexOf(before ?? "ask") || now === before;

/** Reports whether the network setting allows a TCP port. Port 0 stands for all other traffic. */
const reaches = (network: unknown, port: number): boolean =>
  network === "on" || (typeof network === "object" && (network as { ports: number[] }).ports.includes(port));
const SOME_PORTS = [0, 1, 2, 20, 600, 65_535];

export const NO_FREER: Record<string, NoFreer> = {
  security: ranked("deny", "allowlist", "full"),
  // Outcomes for a command that is allowed, and for one that is not.
  ask: outcomes({ off: [0, 2], "on-miss": [0, 1], always: [1, 1] }),
  // Outcomes for writing to the workspace, writing elsewhere, and seeing other processes.
  sandbox: outcomes({ off: [0, 0, 0], "workspace-write": [0, 2, 0], "read-only": [2, 2, 0], isolated: [0, 2, 2] }),
  network: (now: unknown, before: unknown) => SOME_PORTS.every((port) => !reaches(now, port) || reaches(before, port)),
  writable: noNewEntry,
  readable: noNewEntry,
  sockets: noNewEntry,
  denied: noLostEntry,
  user: same,
  require: (now: boolean, before: boolean) => now || !before,
  maskFailure: ranked("kill", "warn"),
  scope: ranked("workspace", "anywhere"),
  rules: (now: UserRule[], before: UserRule[]) =>
    before.every((rule) => rule.decision === "allow" || holds(now, rule)) &&
    now.every((rule) => rule.decision !== "allow" || holds(before, rule)),
  allowlist: noNewEntry,
  safeBins: noNewEntry,
  allowDenied: noNewEntry,
  "env.pass": noNewEntry,
  "env.block": noLostEntry,
  "limits.processes": noMore,
  "limits.cpu": noMore,
  "limits.memoryBytes": noMore,
  "limits.diskBytes": noMore,
  "limits.openFiles": noMore,
  "limits.fileSize": noMore,
  "limits.sessions": noMore,
  "limits.startsPerMinute": noMore,
  "timeouts.defaultSeconds": (now: number | null, before: number | null) =>
    now === before || (now !== null && now <= (before ?? 30)),
  "timeouts.maxSeconds": noMore,
  "retention.maxAgeHours": same,
  "retention.maxCount": same,
  "retention.maxBytes": same,
  "approvals.expiresMinutes": noMore,
  "approvals.commandLine": ranked("terminal", "script", "anywhere"),
  "approvals.quorum.rule": ranked("unanimous", "majority", "any"),
  "approvals.quorum.approvers": same,
  "permissions.run": tier,
  "permissions.write": tier,
  "permissions.kill": tier,
  "permissions.extend": tier,
  "permissions.remove": tier,
  "permissions.list": tier,
  "permissions.read": tier,
  "toolsets.runner": notSwitchedOn,
  "toolsets.process": notSwitchedOn,
  "toolsets.exec": notSwitchedOn,
  "toolsets.shell": notSwitchedOn,
  "toolsets.bash": notSwitchedOn,
  callback: same,
  fleet: same,
  durability: ranked("power-loss", "process"),
};

/** Returns every key that holds a value, from the schema itself, so that new keys are included. */
export function leaves(at: JsonSchema, path: string[] = []): string[] {
  return Object.entries(at.properties ?? {}).flatMap(([key, property]) => {
    const name = [...path, key].join(".");
    if (name === "$schema" || name === "agents") return [];
    return name in NO_FREER || !property.properties ? [name] : leaves(property, [...path, key]);
  });
}

export function at(value: unknown, name: string): unknown {
  return name.split(".").reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
}

const KEYS = leaves(configJsonSchema());

/** Asserts that `now` allows nothing that `before` did not allow. */
export function assertNoFreer(now: Settings, before: Settings, what: string): void {
  for (const name of KEYS) {
    const isNoFreer = NO_FREER[name] as (now: unknown, before: unknown) => boolean;
    const [value, old] = [at(now, name), at(before, name)];
    assert.ok(isNoFreer(value, old), `${name}: ${JSON.stringify(old)} became ${JSON.stringify(value)} (${what})`);
  }
}
