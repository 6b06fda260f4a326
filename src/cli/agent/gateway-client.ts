import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";
import type { GatewayProcessOptions } from "./gateway-process.ts";

/** The command line itself, whose code is bundled. The relative path is the same from src/ and from dist/. */
const PROGRAM = fileURLToPath(new URL("../../../bin/sallyport.js", import.meta.url));
/** How long the process may take to end after the session. It is only waited for so that nothing of it is left. */
const END_WITHIN_MS = 5000;

/** The process that serves the channel of an agent's program. */
export interface GatewayProcess {
  /** Tells the process which session to serve. Without this, it ends when this process does. */
  serve(session: string): void;
  /** Resolves when the process has ended, or after a few seconds. */
  ended(): Promise<void>;
  /** Ends the process if it was not told to serve a session, and lets this process exit. */
  release(): void;
}

/** Starts the process. Resolves when it listens, and rejects with its error when it cannot. */
export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [PROGRAM, "--agent-gateway"], {
    cwd: options.workspace,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin.on("error", () => {}); // it has ended; the result is its exit
  child.stdin.write(`${JSON.stringify(options)}\n`);
  await listening(child);
  child.stdout.destroy();
  child.stderr.destroy();
  child.unref();
  const exited = child.exitCode === null ? once(child, "exit") : Promise.resolve();
  return {
    serve: (session) => void child.stdin.write(`${session}\n`),
    async ended() {
      const timeout = AbortSignal.timeout(END_WITHIN_MS);
      child.ref();
      await Promise.race([exited, once(timeout, "abort")]);
      child.unref();
    },
    release: () => void child.stdin.end(),
  };
}

async function listening(child: ChildProcess): Promise<void> {
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout?.once("data", () => resolve());
  child.once("error", (error) => reject(failure(error.message)));
  child.once("close", (code) => reject(failure(stderr.trim() || `it exited with code ${code}`)));
  await promise;
}

function failure(why: string): SallyportError {
  return new SallyportError("KeeperUnavailable", `The gateway for the commands of the agent did not start: ${why}`, [
    operatorStep("doctor", "Run `sallyport doctor` to check this machine and the state folder."),
  ]);
}
