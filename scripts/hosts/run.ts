// Runs real agent hosts from npm against a stand-in model, one after another, and writes the table in docs/hosts.md:
//   npm run hosts                          installs the newest versions and tries all hosts in all modes
//   npm run hosts -- codex gemini          some hosts; the table stays as it is
//   npm run hosts -- --mode mcp --offline  one mode, with the versions that are installed
//
//   --cache DIR   where the hosts are installed      --json FILE  where the results are written
//   --record      replace the recordings that the tests in test/integration/hosts/ replay
//   --keep        keep the folders of the trials

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { MODES, type Mode } from "../../src/setup/hosts/host.ts";
import { findHost } from "../../src/setup/hosts/index.ts";
import type { Headless } from "./headless/headless.ts";
import { HEADLESS } from "./headless/index.ts";
import { defaultCache, install } from "./install.ts";
import { type Outcome, problems, table, updatePage } from "./report.ts";
import { endTrials, runTrial } from "./trial.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: "string", multiple: true, default: [...MODES] },
    cache: { type: "string", default: defaultCache() },
    json: { type: "string" },
    offline: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
  },
});

function modesOf({ name }: Headless): readonly Mode[] {
  return findHost(name)?.modes ?? [];
}

async function tryHost(host: Headless): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [index, mode] of modesOf(host)
    .filter((mode) => values.mode.includes(mode))
    .entries()) {
    process.stdout.write(`${host.name} (${mode}) ... `);
    const outcome = await attempt(host, mode, !values.offline && index === 0);
    const wrong = problems(outcome);
    console.log(wrong.length === 0 ? "ok" : ["", ...wrong].join("\n").replaceAll("\n", "\n  "));
    outcomes.push(outcome);
  }
  return outcomes;
}

/** A host that cannot be installed or started is an outcome like any other, so that the rest is tried as well. */
async function attempt(host: Headless, mode: Mode, update: boolean): Promise<Outcome> {
  let version = "not installed";
  try {
    const installed = await install(host, values.cache, update);
    version = installed.version;
    const record = values.record ? join(ROOT, "test/integration/hosts/recorded") : null;
    return await runTrial(host, installed, mode, { keep: values.keep, record });
  } catch (error) {
    return { host: host.name, version, mode, error: (error as Error).message };
  }
}

const unknown = [
  ...positionals.filter((name) => !HEADLESS.some((host) => host.name === name)),
  ...values.mode.filter((mode) => !(MODES as readonly string[]).includes(mode)),
];
if (unknown.length > 0) {
  const names = HEADLESS.map(({ name }) => name);
  console.error(`unknown: ${unknown.join(", ")}; the hosts are ${names.join(", ")}; the modes are ${MODES.join(", ")}`);
  process.exit(2);
}
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    endTrials();
    process.exit(1);
  });
}
const outcomes: Outcome[] = [];
for (const host of HEADLESS) {
  if (positionals.length === 0 || positionals.includes(host.name)) outcomes.push(...(await tryHost(host)));
}
console.log(`\n${table(outcomes)}`);
const json = resolve(values.json ?? join(values.cache, "results.json"));
mkdirSync(dirname(json), { recursive: true });
writeFileSync(json, `${JSON.stringify({ at: new Date().toISOString(), outcomes }, null, 2)}\n`);
console.log(`\nDetails: ${json}`);
const isComplete = positionals.length === 0 && values.mode.length === MODES.length;
if (isComplete) updatePage(join(ROOT, "docs/hosts.md"), outcomes);
process.exitCode = outcomes.some((outcome) => problems(outcome).length > 0) ? 1 : 0;
