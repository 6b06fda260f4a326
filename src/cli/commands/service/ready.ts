/** Health checks: whether a service accepts requests. */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../../../core/error.ts";
import { needsFleet } from "../../../fleet/errors.ts";
import { UsageError } from "../../command.ts";

const POLL_MS = 200;
const REQUEST_MS = 5000;

/** Waits until a service is ready. Returns null then, and otherwise why it is not. */
export async function waitUntilReady(target: string, waitMs: number): Promise<string | null> {
  const check = target === "worker" ? workerProblem : () => serviceProblem(urlOf(target));
  const deadline = performance.now() + waitMs;
  for (;;) {
    const problem = await check();
    if (problem === null || performance.now() >= deadline) return problem;
    if (hasEnded(process.env.MAINPID)) return "the service has ended";
    await sleep(POLL_MS);
  }
}

/** Systemd sets MAINPID for ExecStartPost=, and restarts a service that has ended only after that. */
function hasEnded(main: string | undefined): boolean {
  if (!main || !/^[1-9]\d*$/.test(main)) return false;
  try {
    process.kill(Number(main), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function urlOf(text: string): URL {
  if (/^https?:\/\/[^/\s]+\/?$/.test(text) && URL.canParse(text)) return new URL("/readyz", text);
  throw new UsageError(`the argument must be \`worker\` or a URL such as http://127.0.0.1:4180; received \`${text}\``);
}

async function serviceProblem(url: URL): Promise<string | null> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve) => {
    // Nothing secret is sent, and the certificate may name only the public host name.
    const options = { rejectUnauthorized: false, agent: false, timeout: REQUEST_MS };
    const asked = request(url, options, (response: IncomingMessage) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode === 200 ? null : `HTTP status ${response.statusCode}`));
      response.on("error", (error) => resolve(error.message));
    });
    asked.on("timeout", () => asked.destroy(new Error(`no response within ${REQUEST_MS / 1000} s`)));
    asked.on("error", (error) => resolve(error.message || String((error as NodeJS.ErrnoException).code)));
    asked.end();
  });
}

/** Checks the heartbeat of the worker on this machine. */
async function workerProblem(): Promise<string | null> {
  const [{ fleetFromEnvironment }, { loadConfig }, { openConnection }, { HostMonitor }] = await Promise.all([
    import("../../../fleet/url.ts"),
    import("../../../config/load.ts"),
    import("../../../fleet/connection.ts"),
    import("../../../fleet/nodes.ts"),
  ]);
  const fleet = fleetFromEnvironment() ?? loadConfig({ workspace: process.cwd() }).settings.fleet;
  if (!fleet) throw new SallyportError("InvalidRequest", ...needsFleet("service ready worker"));
  try {
    const connection = await openConnection(fleet, "worker");
    try {
      const worker = await new HostMonitor(connection).get(connection.name);
      if (worker === null) return `the fleet has no worker ${connection.name}`;
      return worker.trouble ? `worker ${connection.name} reports an error: ${worker.trouble}` : null;
    } finally {
      await connection.nc.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}
