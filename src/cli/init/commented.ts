import type { ConfigFile } from "../../config/schema.ts";
import { configJsonSchema } from "../../config/schema.ts";
import { wrap } from "../../text/wrap.ts";

const WIDTH = 96;

/**
 * A configuration to begin with: what was chosen, and every other key as a comment with its default. What was chosen
 * comes last, so that any line above can be put in force by taking its slashes away.
 */
export function commentedConfig(chosen: Partial<ConfigFile>, schemaPath: string): string {
  const { properties = {} } = configJsonSchema();
  const keys = Object.keys(properties).filter((key) => key !== "$schema" && key !== "agents");
  const others = keys.filter((key) => !Object.hasOwn(chosen, key));
  const entry = (key: string, value: unknown) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
  const told = (key: string) => wrap(String(properties[key]?.description ?? ""), WIDTH).map((line) => `  // ${line}`);
  return [
    "{",
    `  ${entry("$schema", schemaPath)},`,
    "",
    ...others.flatMap((key) => [...told(key), `  // ${entry(key, exampleOf(key, properties[key]))},`, ""]),
    ...told("agents"),
    '  // "agents": { "ci": { "ask": "off" } },',
    "",
    ...Object.entries(chosen).flatMap(([key, value], index, all) => [
      ...told(key),
      `  ${entry(key, value)}${index + 1 < all.length ? "," : ""}`,
    ]),
    "}",
    "",
  ].join("\n");
}

/** Where an empty default shows nobody what could stand there. */
const EXAMPLES: Record<string, unknown> = {
  writable: ["~/.cache/my-tool"],
  denied: ["~/private"],
  user: "nobody",
  rules: [{ prefix: ["npm", "publish"], decision: "deny", message: "Releases are made by the pipeline." }],
  allowlist: [{ pattern: "git", args: "status **" }],
  safeBins: ["head", "tail", "wc"],
  allowDenied: ["privilege"],
  env: { pass: ["SSH_AUTH_SOCK"] },
  permissions: { kill: "ask" },
  timeouts: { defaultSeconds: 120, maxSeconds: 3600 },
  callback: { command: ["/usr/local/bin/on-exit"] },
  fleet: { servers: "nats://10.0.0.1:4222" },
};

/** An example, else its default, or those of what is in it. */
function exampleOf(key: string, property: Record<string, unknown> | undefined): unknown {
  if (Object.hasOwn(EXAMPLES, key)) return EXAMPLES[key];
  if (property?.default !== undefined) return property.default;
  const inner = (property?.properties ?? {}) as Record<string, Record<string, unknown>>;
  const known = Object.entries(inner).filter(([, each]) => each.default !== undefined);
  return Object.fromEntries(known.map(([name, each]) => [name, each.default]));
}
