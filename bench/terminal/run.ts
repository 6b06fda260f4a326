import { benchGateway } from "../measure.ts";
import type { BenchResult } from "../result.ts";
import { keyToEcho } from "./echo.ts";
import { flood } from "./flood.ts";
import { liveScreen, rebuild } from "./screen.ts";

/**
 * Measures terminals: key echo and large output, compared with a pty in this process (`@lydell/node-pty`), and reading
 * the screen.
 */
export async function run({ quick }: { quick: boolean }): Promise<BenchResult[]> {
  // An editor can run any command, so it requires approval.
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
