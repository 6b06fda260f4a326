import { Console } from "node:console";
import { resolve } from "node:path";
import { toAgentName } from "../../../core/names.ts";
import type { AgentOptions, OnDisconnect } from "../../../mcp/agent-context.ts";
import { visible } from "../../../text/visible.ts";
import { type Command, type Invocation, type Io, UsageError } from "../../command.ts";
import { saveCompiled } from "../../compile-cache.ts";
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
  summary: "Serve tools to an agent over the Model Context Protocol",
  usage: "sallyport mcp [OPTIONS]\n       sallyport mcp --http [HOST:]PORT [OPTIONS]",
  description: `
    Serves MCP on stdin and stdout until stdin is closed. With --http, serves Streamable HTTP to any number of agents;
    each request needs an agent's token (see \`sallyport token --help\`).`,
  options: {
    tools: { type: "string" },
    workspace: { type: "string" },
    "answer-within": { type: "string" },
    "on-disconnect": { type: "string" },
    approvals: { type: "string" },
    headless: { type: "boolean" },
    structured: { type: "boolean" },
    prefix: { type: "string" },
    http: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "max-sessions": { type: "string" },
    idle: { type: "string" },
  },
  help: {
    tools: `NAME,...: Toolsets to serve: ${TOOLSETS.join(", ")} (default: bash)`,
    agent: 'NAME: Agent the commands belong to; with --http, the token names the agent (default: "default")',
    workspace: "DIR: Workspace of the commands (default: the current directory)",
    "answer-within":
      "DUR: Answer each call within this time; a command that takes longer continues as a session (default: 45s)",
    "on-disconnect": "keep|end: Keep or end background sessions when the client disconnects (default: keep)",
    approvals:
      "host|elsewhere: Also request approval from the user of the MCP host, or only in the console and on the command " +
      "line (default: host)",
    headless:
      "No person is at the host: show no forms there (default when the host was started without a person, such as " +
      "`claude -p`)",
    structured: "Add output schemas and structured content, for programs (default: text only, for models)",
    prefix: "NAME: Offer the tools as NAME_TOOL, for a host whose own tools have the same names",
    http: "[HOST:]PORT: Serve Streamable HTTP on this address; port 0 selects a free port (default host: 127.0.0.1)",
    "allow-host": "NAME: Additional host name to accept in requests; repeatable",
    "max-sessions": `N: Maximum number of concurrent protocol sessions of each agent (default: ${DEFAULT_SESSIONS})`,
    idle: "DUR: End a protocol session after this time without a request (default: 30m)",
  },
  groups: { "HTTP options": ["http", "allow-host", "max-sessions", "idle"] },
  choices: { tools: ["runner", "process", "exec", "shell", "bash"], approvals: ["host", "elsewhere"] },
  examples: [
    ["Serve the default tool on stdin and stdout", "sallyport mcp"],
    [
      "Serve two toolsets to an agent, in another workspace",
      "sallyport mcp --tools bash,process --agent builder --workspace ~/app",
    ],
    ["Serve over HTTP on port 7333", "sallyport mcp --http 7333"],
  ],
  run: async (invocation) => {
    const { values, positionals, rest, io } = invocation;
    const [unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`mcp\``);
    const options = agentOptions(values);
    const named = textOption(values, "agent") ?? options.agent;
    // Clients often pass their own name, such as `Claude Code`.
    if (named.toLowerCase() !== options.agent) {
      io.err(`sallyport: the agent name ${JSON.stringify(visible(named))} is not valid; using ${options.agent}\n`);
    }
    const approvals = choiceOption(values, "approvals", ["host", "elsewhere"]);
    if (values.headless && approvals === "host")
      throw new UsageError("`--headless` cannot be used with `--approvals host`");
    const listen = listenOption(textOption(values, "http"));
    const stop = new AbortController();
    for (const signal of STOPPING) process.once(signal, () => stop.abort());
    const mayApprove = values.headless !== true && approvals !== "elsewhere";
    const serving = { signal: stop.signal, io };
    if (listen) await serveHttp(invocation, options, { ...serving, ...listen, hostMayApprove: mayApprove });
    else {
      const hostMayApprove = async () => mayApprove && (approvals === "host" || !(await isHostHeadless()));
      await serveStdio(options, { ...serving, hostMayApprove });
    }
    return 0;
  },
};

/** Reports whether the host that started this server runs without a person, as `claude -p` does. */
async function isHostHeadless(): Promise<boolean> {
  const { findAgentHost } = await import("../../../approval/agent-hosts.ts");
  return findAgentHost()?.headless === true;
}

interface Serving {
  signal: AbortSignal;
  io: Io;
}

function agentOptions(values: Invocation["values"]): AgentOptions {
  return {
    agent: toAgentName(textOption(values, "agent") ?? "default"),
    state: stateFolder(values),
    workspace: resolve(textOption(values, "workspace") ?? "."),
    toolsets: toolsetsOf(textOption(values, "tools") ?? "bash"),
    answerWithinMs: withinADay(values, "answer-within") ?? DEFAULT_ANSWER_WITHIN_MS,
    onDisconnect: choiceOption<OnDisconnect>(values, "on-disconnect", ["keep", "end"]) ?? "keep",
    structured: values.structured === true,
    prefix: prefixOption(textOption(values, "prefix")),
  };
}

function prefixOption(text: string | undefined): string | null {
  // Some providers allow at most 64 of these characters in the name of a tool.
  if (text === undefined || /^[A-Za-z][A-Za-z0-9_-]{0,31}$/.test(text)) return text ?? null;
  throw new UsageError(
    `\`--prefix\` must be 1 to 32 letters, digits, \`_\` or \`-\`, beginning with a letter; received \`${text}\``,
  );
}

function withinADay(values: Invocation["values"], name: string): number | undefined {
  const ms = durationOption(values, name);
  if (ms === undefined || (ms > 0 && ms <= DAY_MS)) return ms;
  throw new UsageError(
    `\`--${name}\` must be greater than 0 and at most 1 day; received \`${textOption(values, name)}\``,
  );
}

function listenOption(text: string | undefined): { host: string; port: number } | null {
  if (text === undefined) return null;
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new UsageError(`\`--http\` must be a port or HOST:PORT; received \`${text}\``);
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** Prints protocol errors for debugging. The client receives them in any case. */
const note = (io: Io) => (error: Error) => {
  if (process.env.SALLYPORT_DEBUG) io.err(`sallyport: ${error.message}\n`);
};

async function serveStdio(
  options: AgentOptions,
  { signal, hostMayApprove, io }: Serving & { hostMayApprove: () => Promise<boolean> },
): Promise<void> {
  if (io.isTTY.stdin) io.err("Serving MCP on stdin and stdout, for an MCP host to connect to. Press Ctrl-D to stop.\n");
  // Output of console.log must not be mixed with the protocol on stdout.
  globalThis.console = new Console(process.stderr);
  const [{ AgentContext }, { serveStdio }] = await Promise.all([
    import("../../../mcp/agent-context.ts"),
    import("../../../mcp/stdio.ts"),
  ]);
  const agentContext = new AgentContext(options);
  // Reading the processes of the host takes longer than the handshake, which does not need the result.
  const hostUser = async () => ((await hostMayApprove()) ? localUser().who : null);
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
  // The code that runs commands has been compiled only if a command ran; a cache without it would never be completed.
  saveCompiled(agentContext.ranCommand ? "" : "mcp-sdk");
}

async function serveHttp(
  invocation: Invocation,
  options: AgentOptions,
  { signal, hostMayApprove, io, host, port }: Serving & { hostMayApprove: boolean; host: string; port: number },
): Promise<void> {
  const { values } = invocation;
  const [{ serveHttp }, { Tokens }] = await Promise.all([
    import("../../../mcp/http/serve.ts"),
    import("../../../storage/tokens.ts"),
  ]);
  const perAgent = countOption(values, "max-sessions") ?? DEFAULT_SESSIONS;
  const idleMs = withinADay(values, "idle") ?? DEFAULT_IDLE_MS;
  const names = textOptions(values, "allow-host");
  // Reports an invalid configuration and conflicting toolsets at startup instead of on an agent's first call.
  const { AgentContext } = await import("../../../mcp/agent-context.ts");
  const proof = new AgentContext(options);
  await proof.tools.list().finally(() => proof.close());
  await withDatabase(invocation, async (database) => {
    const tokens = new Tokens(database);
    const onerror = note(io);
    const onfailure = (error: Error) => io.err(`sallyport: ${error.message}\n`);
    const asked = {
      host,
      port,
      names,
      tokens,
      hostMayApprove,
      agentOptions: options,
      perAgent,
      idleMs,
    };
    const serving = await serveHttp({ ...asked, onerror, onfailure });
    io.err(`Serving MCP at ${serving.url}\n`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await serving.close();
  });
}
