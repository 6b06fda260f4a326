/** Measures connections to a TCP server on this machine, which the broker makes for sandboxed commands. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { atMost, benchGateway, percentile, takeTurns, UNLIMITED } from "../measure.ts";
import type { BenchResult } from "../result.ts";

const CONNECTIONS = 300;
/** Connects again and again, and prints the median time in microseconds. */
const CLIENT = `
  const { connect } = require("node:net");
  const times = [];
  (function next() {
    if (times.length === ${CONNECTIONS}) return console.log(times.sort((a, b) => a - b)[${CONNECTIONS / 2}]);
    const start = process.hrtime.bigint();
    const socket = connect(Number(process.argv[1]), "127.0.0.1", () => {
      times.push(Number(process.hrtime.bigint() - start) / 1000);
      socket.destroy();
      setImmediate(next);
    });
  })();`;

export async function connects(quick: boolean): Promise<BenchResult[]> {
  const server = createServer((socket) => socket.on("error", () => {}).destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = String((server.address() as AddressInfo).port);
  const { gateway, leave } = await benchGateway({
    policy: { ...UNLIMITED.policy, sandbox: "off" },
    approve: async () => ({ decision: "once", who: "bench" }), // code in an argument cannot be analyzed
  });
  const found: Record<string, number[]> = { off: [], "workspace-write": [] };
  const measure = (sandbox: "off" | "workspace-write") => async () => {
    const { output, exitCode } = await gateway.run({ command: process.execPath, args: ["-e", CLIENT, port], sandbox });
    if (exitCode !== 0) throw new Error(`the client exited with code ${exitCode}: ${output}`);
    found[sandbox]?.push(Number(output) / 1000);
  };
  await takeTurns(quick ? 3 : 10, [measure("off"), measure("workspace-write")]);
  await leave();
  server.close();
  const [free, brokered] = [found.off ?? [], found["workspace-write"] ?? []].map((times) => percentile(times, 0.5));
  const row = { name: "a TCP connection to this machine under workspace-write, p50", unit: "ms", peer: "off" };
  return [atMost(4, { ...row, ours: brokered ?? 0, peerValue: free ?? null })];
}
