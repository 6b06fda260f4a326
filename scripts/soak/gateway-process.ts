/** Runs one gateway under load in a separate process that can be killed. On SIGTERM it finishes its jobs and exits. */
import { readdirSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { SallyportError } from "../../src/core/error.ts";
import { openGateway } from "../../src/gateway/open.ts";
import { COMMANDS } from "./commands.ts";
import { Journal } from "./journal.ts";
import { Random } from "./random.ts";

export interface GatewayProcessOptions {
  state: string;
  workspace: string;
  journals: string;
  name: string;
  seed: number;
  atOnce: number;
  /** The maximum distance that the clock of this process jumps back or forth, in ms. */
  clockMs: number;
}

const orders = JSON.parse(process.env.SOAK_ORDERS ?? "") as GatewayProcessOptions;
delete process.env.SOAK_ORDERS;
const random = new Random(orders.seed);
const journal = new Journal(orders.journals, orders.name);
let going = true;
process.on("SIGTERM", () => {
  going = false;
});

if (orders.clockMs > 0) {
  const real = Date.now;
  let shift = 0;
  setInterval(() => {
    shift = random.between(-orders.clockMs, orders.clockMs);
  }, 700).unref();
  Date.now = () => real() + shift;
}

const gateway = await openGateway({
  state: orders.state,
  workspace: orders.workspace,
  configuration: null,
  policy: { scope: "anywhere", sandbox: "off", limits: { sessions: 10_000, startsPerMinute: 1_000_000 } },
  approve: async () => ({ decision: random.chance(0.8) ? "once" : "deny", who: "soak" }),
});

const samples = setInterval(() => {
  const descriptors = countDescriptors();
  if (descriptors === null) return;
  journal.note({
    what: "sample",
    pid: process.pid,
    atMs: performance.now(),
    rss: process.memoryUsage.rss(),
    descriptors,
  });
}, 500).unref();

/** Returns the number of open descriptors, or null when none is left to read the folder with. */
function countDescriptors(): number | null {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return null;
  }
}

/** Notes a failure. A failure that lacks an error type or a next step is a finding. */
function noteFailure(job: string, token: string, error: unknown): void {
  if (error instanceof SallyportError && error.recovery.length > 0) {
    journal.note({ what: "refused", token, type: error.type });
    return;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  journal.note({ what: "finding", text: `${job} failed without a type: ${text}` });
}

async function work(): Promise<void> {
  const names = Object.keys(COMMANDS) as [string, ...string[]];
  while (going) {
    const job = random.pick(names);
    const token = `${orders.name}-${random.between(0, 2 ** 31)}`;
    journal.note({ what: "asked", token, job });
    await COMMANDS[job]?.({ gateway, random, journal, token }).catch((error) => noteFailure(job, token, error));
    await pause(random.between(0, 20));
  }
}

process.stdout.write("ready\n");
process.on("unhandledRejection", (error) => noteFailure("an unhandled promise", "", error));
await Promise.all(Array.from({ length: orders.atOnce }, work));
await gateway.close();
clearInterval(samples); // A later sample could not be written: the journal is closed next.
journal.close();
