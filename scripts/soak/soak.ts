import { SoakEnvironment } from "./environment.ts";
import { type Faults, injectFaults } from "./faults.ts";
import { fillDisk } from "./full-disk.ts";
import { Random } from "./random.ts";
import { type Verification, verify } from "./verify.ts";

export interface SoakOptions {
  seconds: number;
  seed: number;
  /** The number of concurrent gateways. */
  gateways: number;
}

export interface SoakReport extends SoakOptions, Verification {
  faults: Faults;
  /** False when no small disk could be mounted here. */
  fullDisk: boolean;
}

const STOP_WITHIN_MS = 60_000;

/** Puts random load on several gateways with one state folder, injects faults, and verifies the result. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const random = new Random(options.seed);
  const environment = new SoakEnvironment(random);
  try {
    for (let n = 0; n < options.gateways; n++) environment.startGateway(n === 1 ? "clock" : "plain");
    const small = fillDisk(new Random(options.seed + 1), Math.ceil(options.seconds / 2));
    const faults = await injectFaults(environment, random, options.seconds);
    const onSmallDisk = await small;
    await environment.stopGateways(STOP_WITHIN_MS);
    const verification = await verify(environment, faults);
    const findings = [...verification.findings, ...(onSmallDisk ?? [])];
    return { ...options, ...verification, findings, faults, fullDisk: onSmallDisk !== null };
  } finally {
    for (const child of environment.gateways) child.kill("SIGKILL");
    environment.remove();
  }
}
