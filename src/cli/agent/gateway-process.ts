/**
 * The process that serves the channel of an agent's program. It is separate from `sallyport agent`, so that it continues
 * when a person detaches from the terminal. It ends with the session of the program.
 *
 * It reads its options from the first line of stdin and answers `ready` on stdout. The second line is the ID of the
 * program's session; if stdin ends before that, the program was not started.
 */
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { SallyportError } from "../../core/error.ts";
import type { Gateway } from "../../gateway/gateway.ts";
import { openGateway } from "../../gateway/open.ts";
import { ChannelListener } from "./channel/listener.ts";
import { onGatewayEvent } from "./channel/shell-call.ts";
import { commandVariables } from "./variables.ts";

export interface GatewayProcessOptions {
  state: string;
  workspace: string;
  agent: string;
  /** The path of the socket to listen on. */
  channel: string;
  /** The folder to remove at the end. */
  runFolder: string;
  /** Variables that only the program has. */
  hidden: string[];
  /** Whether commands that require approval wait for it. */
  waits: boolean;
}

/** How often the session is looked up while it cannot be waited for. */
const RETRY_MS = 1000;
const ANSWER_WITHIN_MS = 45_000;

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) return;
  const options = JSON.parse(first.value) as GatewayProcessOptions;
  const { state, workspace, agent } = options;
  // The terminal's signals are for the program. This process ends with the program's session.
  for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"] as const) process.on(signal, () => {});
  const gateway = await openGateway({ state, workspace, agent, channel: "agent", onEvent: onGatewayEvent });
  const listener = new ChannelListener({
    gateway,
    mcp: {
      agent,
      state,
      workspace,
      toolsets: ["bash"],
      answerWithinMs: ANSWER_WITHIN_MS,
      onDisconnect: "end",
      structured: false,
      attended: options.waits,
    },
    variables: (env) => gateway.allowedVariables(commandVariables(env, options.hidden)),
    waits: options.waits,
  });
  try {
    await listener.listen(options.channel);
    process.stdout.write("ready\n");
    const second = await lines.next();
    if (!second.done) await sessionEnd(gateway, second.value);
  } finally {
    await listener.close();
    await gateway.close();
    rmSync(options.runFolder, { recursive: true, force: true });
  }
}

/** Resolves when the session has ended or was removed. */
async function sessionEnd(gateway: Gateway, id: string): Promise<void> {
  for (;;) {
    try {
      const { status } = await gateway.session(id).wait();
      if (status !== "running") return;
    } catch (error) {
      if (!(error instanceof SallyportError) || error.type === "SessionNotFound") return;
    }
    await sleep(RETRY_MS);
  }
}

/** Runs the process, and ends it. */
export async function runGatewayProcess(): Promise<never> {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  process.exit(0);
}
