import { Console } from "node:console";
import { resolve } from "node:path";
import type { AgentOptions, OnDisconnect } from "../../../mcp/agent-context.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { stateFolder, withDatabase } from "../../open.ts";
import {
  choiceOption,
  countOption,
  durationOption,
  TOOLSETS,
  textOption,
  textOptions,
  toolsetsOf,
} from "../../options.ts";
import { localUser } from "../../person.ts";

const DEFAULT_ANSWER_WITHIN_MS = 45_000;
const DEFAULT_SESSIONS = 64;
const DEFAULT_IDLE_MS = 30 * 60_000;
const DAY_MS = 24 * 3600 * 1000;
const STOPPING = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export const mcp: Command = {
  name: "mcp",
  summary: "Serve an agent's tools over the Model Context Protocol",
  usage: "sallyport mcp [OPTIONS]\n       sallyport mcp --http [HOST:]PORT [OPTIONS]",
  options: {
    tools: { type: "string" },
    workspace: { type: "string" },
    "answer-within": { type: "string" },
    "on-disconnect": { type: "string" },
    approvals: { type: "string" },
    http: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "max-sessions": { type: "string" },
    idle: { type: "string" },
  },
  help: {
    tools: `NAME,…: which toolsets: ${TOOLSETS.join(", ")} [bash]`,
    agent: "NAME: whose commands these are [default]; over HTTP each token says so",
    workspace: "DIR: where commands run [the current folder]",
    "answer-within": "DUR: answer each call within this time; what takes longer runs on as a session [45s]",
    "on-disconnect": "keep|end: what becomes of background sessions when the client leaves [keep]",
    approvals: "host|elsewhere: whether the client's user may approve, where the client can ask them [host]",
    http: "[HOST:]PORT: serve over Streamable HTTP, on the loopback unless a host is given; 0 takes a free port",
    "allow-host": "NAME: with --http, a further name this server may be called by; repeatable",
    "max-sessions": `N: with --http, sessions of 2025-era clients at a time [${DEFAULT_SESSIONS}]`,
    idle: "DUR: with --http, end a session after so long without a request [30m]",
  },
  choices: { tools: ["runner", "process", "exec", "shell", "bash"], approvals: ["host", "elsewhere"] },
  examples: [
    "sallyport mcp",
    "sallyport mcp --tools bash,process --agent builder --workspace ~/app",
    "sallyport mcp --http 7333",
  ],
  notes: `Without --http it speaks on stdin and stdout until stdin ends; everything else goes to stderr.
With --http every request needs a token of an agent: \`sallyport token create NAME --agent AGENT\`.
docs/mcp.md shows how to add it to the usual hosts.`,
  run: async (invocation) => {
    const { values, positionals, rest, io } = invocation;
    const [unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined) throw new UsageError(`\`mcp\` takes no \`${unexpected}\``);
    const options = agentOptions(values);
    const hostMayApprove = (choiceOption(values, "approvals", ["host", "elsewhere"]) ?? "host") === "host";
    const listen = listenOption(textOption(values, "http"));
    const stop = new AbortController();
    for (const signal of STOPPING) process.once(signal, () => stop.abort());
    const serving = { signal: stop.signal, hostMayApprove, io };
    if (listen) await serveHttp(invocation, options, { ...serving, ...listen });
    else await serveStdio(options, serving);
    return 0;
  },
};

interface Serving {
  signal: AbortSignal;
  hostMayApprove: boolean;
  io: Io;
}

function agentOptions(values: Invocation["values"]): AgentOptions {
  return {
    agent: textOption(values, "agent") ?? "default",
    state: stateFolder(values),
    workspace: resolve(textOption(values, "workspace") ?? "."),
    toolsets: toolsetsOf(textOption(values, "tools") ?? "bash"),
    answerWithinMs: withinADay(values, "answer-within") ?? DEFAULT_ANSWER_WITHIN_MS,
    onDisconnect: choiceOption<OnDisconnect>(values, "on-disconnect", ["keep", "end"]) ?? "keep",
  };
}

function withinADay(values: Invocation["values"], name: string): number | undefined {
  const ms = durationOption(values, name);
  if (ms === undefined || (ms > 0 && ms <= DAY_MS)) return ms;
  throw new UsageError(`\`--${name}\` must be more than 0 and at most a day; received \`${textOption(values, name)}\``);
}

function listenOption(text: string | undefined): { host: string; port: number } | null {
  if (text === undefined) return null;
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new UsageError(`\`--http\` must be a port or HOST:PORT; received \`${text}\``);
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** What a client did wrong it is told itself; whoever looks for the reason of something can read it here, too. */
const note = (io: Io) => (error: Error) => {
  if (process.env.SALLYPORT_DEBUG) io.err(`sallyport: ${error.message}\n`);
};

async function serveStdio(options: AgentOptions, { signal, hostMayApprove, io }: Serving): Promise<void> {
  if (io.isTTY.stdin)
    io.err("Speaking MCP on stdin and stdout; a program should be at the other end. Ctrl-D ends it.\n");
  // Whatever writes with console.log must not be taken for protocol.
  globalThis.console = new Console(process.stderr);
  const [{ AgentContext }, { serveStdio }] = await Promise.all([
    import("../../../mcp/agent-context.ts"),
    import("../../../mcp/stdio.ts"),
  ]);
  const agentContext = new AgentContext(options);
  const hostUser = hostMayApprove ? localUser().who : null;
  try {
    await serveStdio(agentContext, {
      input: process.stdin,
      output: process.stdout,
      signal,
      hostUser,
      onerror: note(io),
    });
  } finally {
    await agentContext.close();
  }
}

async function serveHttp(
  invocation: Invocation,
  options: AgentOptions,
  { signal, hostMayApprove, io, host, port }: Serving & { host: string; port: number },
): Promise<void> {
  const { values } = invocation;
  const [{ serveHttp }, { Tokens }] = await Promise.all([
    import("../../../mcp/http/serve.ts"),
    import("../../../storage/tokens.ts"),
  ]);
  const most = countOption(values, "max-sessions") ?? DEFAULT_SESSIONS;
  const idleMs = withinADay(values, "idle") ?? DEFAULT_IDLE_MS;
  const names = textOptions(values, "allow-host");
  // A bad configuration and toolsets that clash stop the start, not the first agent's first call.
  const { AgentContext } = await import("../../../mcp/agent-context.ts");
  const proof = new AgentContext(options);
  await proof.tools.list().finally(() => proof.close());
  await withDatabase(invocation, async (database) => {
    const tokens = new Tokens(database);
    const onerror = note(io);
    const onfailure = (error: Error) => io.err(`sallyport: ${error.message}\n`);
    const asked = { host, port, names, tokens, hostMayApprove, agentOptions: options, most, idleMs };
    const serving = await serveHttp({ ...asked, onerror, onfailure });
    io.err(`Serving MCP at ${serving.url}\n`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await serving.close();
  });
}
