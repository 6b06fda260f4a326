import { setTimeout as pause } from "node:timers/promises";
import { descendantsOf, zygotesOf } from "../../test/fixtures/processes.ts";
import { until } from "../../test/fixtures/until.ts";
import type { SoakEnvironment } from "./environment.ts";
import type { Random } from "./random.ts";

export interface Faults {
  gateways: number;
  zygotes: number;
  keepers: number;
}

/** Kills gateways, zygotes and keepers at random and starts new gateways. Returns how many of each it killed. */
export async function injectFaults(environment: SoakEnvironment, random: Random, seconds: number): Promise<Faults> {
  const faults: Faults = { gateways: 0, zygotes: 0, keepers: 0 };
  await until("a gateway is ready", () => environment.ready.length > 0, 60_000);
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await pause(random.between(300, 1500));
    const what = random.pick(["gateway", "gateway", "zygote", "keeper", "keeper", "nothing"]);
    if (what === "gateway") faults.gateways += killGateway(environment, random);
    if (what === "zygote") faults.zygotes += killAll(zygotesOf(environment.state));
    if (what === "keeper") faults.keepers += killKeeper(environment, random);
  }
  return faults;
}

function killGateway(environment: SoakEnvironment, random: Random): number {
  const child = environment.ready[Math.floor(random.next() * environment.ready.length)];
  if (!child) return 0;
  child.kill("SIGKILL");
  environment.startGateway(random.pick(["plain", "plain", "clock", "descriptors"]));
  return 1;
}

/** Kills a keeper that supervises a command. Killing an idle one would test nothing. */
function killKeeper(environment: SoakEnvironment, random: Random): number {
  const keepers = zygotesOf(environment.state)
    .flatMap((zygote) => descendantsOf(zygote))
    .filter(({ title }) => title.startsWith("keeper: ") && !/^keeper: (idle|zygote|first)/.test(title));
  const chosen = keepers[Math.floor(random.next() * keepers.length)];
  return chosen ? killAll([chosen.pid]) : 0;
}

function killAll(pids: number[]): number {
  let killed = 0;
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
      killed++;
    } catch {
      // The process has already exited.
    }
  }
  return killed;
}
