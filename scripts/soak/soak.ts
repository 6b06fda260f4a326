import { doHarm, type Harm } from "./chaos.ts";
import { fillDisk } from "./full-disk.ts";
import { House } from "./house.ts";
import { Random } from "./random.ts";
import { type Reckoning, reckon } from "./reckoning.ts";

export interface SoakOptions {
  seconds: number;
  seed: number;
  /** So many gateways at a time. */
  gateways: number;
}

export interface SoakReport extends SoakOptions, Reckoning {
  harm: Harm;
  /** False: no small disk could be mounted here. */
  fullDisk: boolean;
}

const STOP_WITHIN_MS = 60_000;

/** Random load from several gateways on one state folder, harm done to all of them, and the reckoning. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const random = new Random(options.seed);
  const house = new House(random);
  try {
    for (let n = 0; n < options.gateways; n++) house.startGateway(n === 1 ? "clock" : "plain");
    const small = fillDisk(new Random(options.seed + 1), Math.ceil(options.seconds / 2));
    const harm = await doHarm(house, random, options.seconds);
    const onSmallDisk = await small;
    await house.stopGateways(STOP_WITHIN_MS);
    const reckoning = await reckon(house, harm);
    const findings = [...reckoning.findings, ...(onSmallDisk ?? [])];
    return { ...options, ...reckoning, findings, harm, fullDisk: onSmallDisk !== null };
  } finally {
    for (const child of house.gateways) child.kill("SIGKILL");
    house.remove();
  }
}
