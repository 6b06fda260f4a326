import type { JsonSchema } from "../../../src/config/schema.ts";

export type Random = () => number;

/** Returns a seeded generator, so that failures can be reproduced. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** A short list, so that two samples often share entries. */
const WORDS = ["git", "ls", "AWS_*", "*", "GITHUB_TOKEN", "privilege", "mount", "anna", "ben"];

/** Returns a value that the schema allows: small, at a boundary, or in between. */
export function sample(schema: JsonSchema, random: Random): unknown {
  if (Array.isArray(schema.enum)) return pick(random, schema.enum);
  if (Array.isArray(schema.anyOf)) return sample(pick(random, schema.anyOf as JsonSchema[]), random);
  if (schema.format === "uri") return pick(random, ["https://one.test/x", "https://two.test/x"]);
  if (schema.type === "string") {
    const fits = new RegExp(String(schema.pattern ?? ""), "i");
    return pick(
      random,
      WORDS.filter((word) => fits.test(word)),
    );
  }
  if (schema.type === "boolean") return random() < 0.5;
  if (schema.type === "integer" || schema.type === "number") return number(schema, random);
  if (schema.type === "array") return list(schema, random);
  return object(schema, random);
}

function number(schema: JsonSchema, random: Random): number {
  const least = Number(schema.minimum ?? 1);
  const most = Number(schema.maximum ?? 1000);
  const between = [20, 600].map((value) => Math.max(least, Math.min(most, value)));
  return pick(random, [least, least + 1, ...between, most]);
}

function list(schema: JsonSchema, random: Random): unknown[] {
  const length = Math.max(Number(schema.minItems ?? 0), Math.floor(random() * 4));
  return Array.from({ length }, () => sample(schema.items as JsonSchema, random));
}

function object(schema: JsonSchema, random: Random): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const required = (schema.required ?? []) as string[];
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (required.includes(key) || random() < 0.5) result[key] = sample(property, random);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const name of ["ci", "dev"]) {
      if (random() < 0.5) result[name] = sample(schema.additionalProperties as JsonSchema, random);
    }
  }
  return result;
}
