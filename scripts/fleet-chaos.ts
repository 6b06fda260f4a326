/**
 * Runs ten thousand commands on eight workers while faults are injected, then checks that each command ran at most once
 * and is accounted for.
 *
 *   npm run chaos -- [--commands 10000] [--workers 8] [--gateways 2] [--at-once 32] [--only PART-OF-A-FAULT] [--no-namespaces]
 */
import { parseArgs } from "node:util";
import { breakThings, FAULTS } from "../test/system/fleet/chaos/faults.ts";
import { ChaosFixture } from "../test/system/fleet/chaos/fixture.ts";
import { newCommand, sendAll } from "../test/system/fleet/chaos/load.ts";
import { reconcile, settled } from "../test/system/fleet/chaos/reconcile.ts";

const { values } = parseArgs({
  options: {
    commands: { type: "string", default: "10000" },
    workers: { type: "string", default: "8" },
    gateways: { type: "string", default: "2" },
    "at-once": { type: "string", default: "32" },
    "no-namespaces": { type: "boolean", default: false },
    only: { type: "string", default: "" },
    settle: { type: "string", default: "180" },
  },
});

const from = Date.now();
const say = (text: string) =>
  process.stderr.write(`${((Date.now() - from) / 1000).toFixed(1).padStart(7)} s  ${text}\n`);
const fixture = new ChaosFixture({
  workers: Number(values.workers),
  gateways: Number(values.gateways),
  slots: 8,
  namespaces: !values["no-namespaces"],
  claimWithinMs: 60_000,
});
const hosts = new Set<string>();
try {
  await fixture.open();
  say(`ready, connected through ${fixture.isolated ? "network namespaces" : "proxies"}`);
  let asked = 0;
  let over = false;
  const more = () => {
    if (asked >= Number(values.commands)) return null;
    if (asked > 0 && asked % 500 === 0) say(`${asked} sent`);
    return newCommand(asked++);
  };
  const sending = sendAll(more, fixture.gateways, Number(values["at-once"])).finally(() => {
    over = true;
  });
  const remember = () => {
    for (const { name } of fixture.workers) hosts.add(name);
  };
  remember();
  const faults = await breakThings(
    fixture,
    Object.keys(FAULTS).filter((name) => name.includes(values.only)),
    () => over,
    (name) => {
      remember();
      say(name);
    },
  );
  remember();
  const commands = await sending;
  say("all commands sent; waiting for the sessions to end");
  for (const member of [...fixture.workers, ...fixture.gateways]) {
    member.line.heal();
    member.start();
    await member.started();
  }
  await fixture.cluster.ready();
  await settled(fixture, Number(values.settle) * 1000).catch((error: Error) => say(error.message));
  const account = await reconcile(fixture, commands, [...hosts]);
  const kills = [...fixture.workers, ...fixture.gateways, ...fixture.lost].reduce((sum, { kills }) => sum + kills, 0);
  const { wrong, ...figures } = account;
  const report = {
    ...figures,
    wrong: wrong.length,
    faults: Object.fromEntries(faults),
    kills,
    seconds: (Date.now() - from) / 1000,
  };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  for (const each of wrong.slice(0, 50)) process.stdout.write(`WRONG ${each}\n`);
  if (wrong.length > 0) {
    for (const member of [...fixture.workers, ...fixture.gateways])
      if (member.complaints) say(`${member.name}: ${member.complaints}`);
  }
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  await fixture.close();
}
