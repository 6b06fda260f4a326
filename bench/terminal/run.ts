import { benchGateway } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { keyToEcho } from "./echo.ts";
import { flood } from "./flood.ts";
import { liveScreen, rebuild } from "./screen.ts";

/** Terminals: keys, floods and screens, against a pty in this very process (`@lydell/node-pty`). */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  // An editor can do anything, so a person is asked about it.
  const { gateway, leave } = await benchGateway({ approve: async () => ({ decision: "once", who: "bench" }) });
  try {
    return [
      ...(await keyToEcho(gateway, quick ? 200 : 2000)),
      ...(await flood(gateway, quick ? 1 : 3)),
      ...(await liveScreen(gateway, quick ? 50 : 200)),
      ...(await rebuild(quick ? 2 : 5)),
    ];
  } finally {
    await leave();
  }
}
