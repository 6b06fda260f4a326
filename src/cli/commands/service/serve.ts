import { fstatSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { SallyportError } from "../../../core/error.ts";
import { packageVersion } from "../../../core/version.ts";
import type { ServeOptions } from "../../../http/serve.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { saveCompiled } from "../../compile-cache.ts";
import { stateFolder } from "../../open.ts";
import { TOOLSETS, textOption, textOptions, toolsetsOf } from "../../options.ts";
import { assertAttended, assertPerson, localUser } from "../../person.ts";

const DEFAULT_LISTEN = "127.0.0.1:4180";
/** Same as the default of `mcp --answer-within`. */
const MCP_ANSWER_WITHIN_MS = 45_000;
const STOPPING = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export const serve: Command = {
  name: "serve",
  summary: "Serve the web console and the HTTP API",
  usage: "sallyport serve [OPTIONS]",
  description: `
    Serves the console for people, the REST API for programs, and MCP for agents on one address. Prints a link that
    signs you in as an operator; it can be used once, within ten minutes. Without a terminal and as a systemd service, no
    link is printed: \`sallyport token link\` prints one. Other people and programs sign in with a token
    (see \`sallyport token --help\`).`,
  options: {
    listen: { type: "string" },
    workspace: { type: "string" },
    tools: { type: "string" },
    "no-link": { type: "boolean" },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "insecure-listen": { type: "boolean" },
  },
  help: {
    listen: `[HOST:]PORT: Address to listen on; port 0 selects a free port (default: ${DEFAULT_LISTEN})`,
    workspace: "DIR: Workspace of the commands (default: the current directory)",
    tools: `NAME,...: Toolsets to serve at /mcp: ${TOOLSETS.join(", ")} (default: bash)`,
    "no-link": "Do not print a sign-in link",
    "tls-cert":
      "FILE: TLS certificate (PEM); required for connections from other machines, unless --insecure-listen is used",
    "tls-key": "FILE: Private key of the certificate (PEM)",
    "allow-host": "NAME: Additional host name to accept in requests; repeatable",
    "insecure-listen": "Allow other machines to connect without TLS, which exposes all traffic to the network",
    agent: 'NAME: Agent for commands that do not specify one (default: "default")',
    json: "Print {url, link} as JSON",
  },
  groups: { "Network options": ["tls-cert", "tls-key", "allow-host", "insecure-listen"] },
  examples: [
    ["Serve the console on this machine", "sallyport serve"],
    ["Use another port and workspace", "sallyport serve --listen 8080 --workspace ~/app"],
    [
      "Serve other machines over TLS",
      "sallyport serve --listen 0.0.0.0:4180 --tls-cert cert.pem --tls-key key.pem --allow-host console.example.org",
    ],
  ],
  run: async (invocation) => {
    const { positionals, rest } = invocation;
    const [unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`serve\``);
    const stop = new AbortController();
    for (const signal of STOPPING) process.once(signal, () => stop.abort());
    const address = addressOf(invocation.values);
    // The printed link gives operator access, so a person and not a command must start the service (invariant 7).
    await assertPerson();
    await serveUntil(invocation, address, stop.signal);
    return 0;
  },
};

type Address = Pick<ServeOptions, "host" | "port" | "tls" | "names"> & { toolsets: ReturnType<typeof toolsetsOf> };

/** Returns where and what to serve. Throws for options that are not valid. */
export function addressOf(values: Invocation["values"]): Address {
  const text = textOption(values, "listen") ?? DEFAULT_LISTEN;
  const listen = parseListen(text);
  if (!listen) throw new UsageError(`\`--listen\` must be a port or HOST:PORT; received \`${text}\``);
  const tls = tlsOf(values);
  if (!tls && !isLoopback(listen.host) && !values["insecure-listen"]) {
    throw new UsageError(
      `\`--listen ${text}\` accepts connections from other machines; use \`--tls-cert\` and \`--tls-key\`, or \`--insecure-listen\` if the network is protected in another way`,
    );
  }
  const toolsets = toolsetsOf(textOption(values, "tools") ?? "bash");
  return { ...listen, tls, names: textOptions(values, "allow-host"), toolsets };
}

function tlsOf(values: Invocation["values"]): Address["tls"] {
  const [cert, key] = [textOption(values, "tls-cert"), textOption(values, "tls-key")];
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined)
    throw new UsageError("`--tls-cert` and `--tls-key` must be used together");
  return { cert: fileOf("tls-cert", cert), key: fileOf("tls-key", key) };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`cannot read the file given by \`--${option}\`: ${(error as Error).message}`);
  }
}

async function serveUntil({ values, io }: Invocation, address: Address, signal: AbortSignal): Promise<void> {
  const [{ openGatewayWith }, { serve: start }, { signInUrl, createOperatorLink }] = await Promise.all([
    import("../../../gateway/open.ts"),
    import("../../../http/serve.ts"),
    import("../../../http/sign-in-link.ts"),
  ]);
  const workspace = resolve(textOption(values, "workspace") ?? ".");
  const agent = textOption(values, "agent");
  const state = stateFolder(values);
  const tracing = await tracingOf(process.env);
  const gateway = await openGatewayWith(
    { state, workspace, channel: "console", ...(agent ? { agent } : {}) },
    (step, session) => session !== undefined && tracing?.stages.note(step, session),
  );
  const onfailure = (error: Error) => io.err(`sallyport: ${error.stack ?? error.message}\n`);
  try {
    const { toolsets, ...where } = address;
    const mcp = {
      state,
      workspace,
      toolsets,
      answerWithinMs: MCP_ANSWER_WITHIN_MS,
      onDisconnect: "keep" as const,
      structured: false,
    };
    const version = packageVersion();
    const serving = await start({ ...where, gateway, workspace, version, mcp, tracing, onfailure });
    const { who } = localUser();
    const withheld = values["no-link"] ? null : await reasonForNoLink();
    const link =
      values["no-link"] || withheld !== null
        ? null
        : signInUrl(serving.url, createOperatorLink(gateway.signIns, gateway.audit, who));
    if (withheld !== null)
      io.err(`No sign-in link: ${withheld}\nPrint one in a terminal with \`sallyport token link ${serving.url}\`.\n`);
    if (values.json) io.out(`${JSON.stringify({ url: serving.url, link })}\n`);
    else
      io.err(
        `Serving the console at ${serving.url}\n${link ? `Sign-in link (single use, expires in 10 min): ${link}\n` : ""}`,
      );
    // Saved before the end, because a service may run for months. What it needs to start has been compiled by then.
    void serving.loaded.then(() => saveCompiled());
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await serving.close();
  } finally {
    await gateway.close();
  }
}

/** Returns why no sign-in link may be printed, or null. A service without a person still serves (invariant 7). */
async function reasonForNoLink(): Promise<string | null> {
  if (isLogged(process.env)) return "The output of this service is logged.";
  try {
    await assertAttended();
    return null;
  } catch (error) {
    if (error instanceof SallyportError) return error.message;
    throw error;
  }
}

/**
 * Reports whether systemd has started this process as a service or sends its output to the journal, which other people
 * can read. A terminal of a desktop session inherits the variables, but neither the PID nor the stream.
 */
function isLogged({ SYSTEMD_EXEC_PID: main, JOURNAL_STREAM: journal }: NodeJS.ProcessEnv): boolean {
  if (main === String(process.pid)) return true;
  return [1, 2].some((fd) => {
    const { dev, ino } = fstatSync(fd);
    return journal === `${dev}:${ino}`;
  });
}

/** Returns the trace settings from the standard OpenTelemetry variables, or null when tracing is off. */
async function tracingOf(env: NodeJS.ProcessEnv): Promise<ServeOptions["tracing"]> {
  const { traceSettings } = await import("../../../http/tracing/settings.ts");
  try {
    const settings = traceSettings(env);
    if (!settings) return null;
    const { Stages } = await import("../../../http/tracing/settings.ts");
    return { settings, stages: new Stages() };
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** Parses `HOST:PORT`, `PORT` or `[::1]:PORT`. Returns null when the text is none of these. */
function parseListen(text: string): { host: string; port: number } | null {
  const [, host = "127.0.0.1", port] = /^(?:(\[[0-9a-fA-F:.]+\]|[^:\s]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return null;
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** Reports whether the host is a loopback address. `localhost` is the only name that is known to be one. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
