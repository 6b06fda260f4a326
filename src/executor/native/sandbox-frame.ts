import type { SandboxSpec } from "../../core/launch.ts";

/** A sandbox as fields of a run frame; see native/sandbox/spec.h, which this mirrors. */
const TAG = {
  sandbox: 22,
  writable: 23,
  readOnly: 24,
  denied: 25,
  temporary: 26,
  network: 27,
  ports: 28,
  user: 29,
  hidden: 30,
} as const;
const ISOLATED = 1;
const REQUIRE = 2;

function paths(list: string[]): Buffer {
  return Buffer.from(list.map((path) => `${path}\0`).join(""));
}

function numbers(values: number[], width: 2 | 4): Buffer {
  const bytes = Buffer.alloc(values.length * width);
  for (const [index, value] of values.entries()) bytes.writeUIntLE(value, index * width, width);
  return bytes;
}

/** Mostly it is the very same sandbox again, and a long list of paths. */
const encoded = new WeakMap<SandboxSpec, readonly [number, Buffer][]>();

export function sandboxFields(spec: SandboxSpec): readonly [number, Buffer][] {
  const known = encoded.get(spec);
  if (known) return known;
  const fields = encode(spec);
  encoded.set(spec, fields);
  return fields;
}

function encode(spec: SandboxSpec): [number, Buffer][] {
  const { network, user } = spec;
  const mode = network === "on" ? 0 : network === "off" ? 1 : 2;
  const fields: [number, Buffer][] = [
    [TAG.sandbox, numbers([(spec.isolated ? ISOLATED : 0) | (spec.require ? REQUIRE : 0)], 4)],
    [TAG.writable, paths(spec.writable)],
    [TAG.readOnly, paths(spec.readOnly)],
    [TAG.denied, paths(spec.denied)],
    [TAG.hidden, paths(spec.hidden)],
    [TAG.network, Buffer.from([mode])],
  ];
  if (spec.temporary !== null) fields.push([TAG.temporary, paths([spec.temporary])]);
  if (typeof network === "object") fields.push([TAG.ports, numbers(network.ports, 2)]);
  if (user !== null) fields.push([TAG.user, numbers([user.uid, user.gid, ...user.groups], 4)]);
  return fields;
}
