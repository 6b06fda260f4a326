import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { packageVersion } from "../../../core/version.ts";
import type { ServeOptions } from "../../../http/serve.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { stateFolder } from "../../open.ts";
import { TOOLSETS, textOption, textOptions, toolsetsOf } from "../../options.ts";
import { assertPerson, localUser } from "../../person.ts";

const DEFAULT_LISTEN = "127.0.0.1:4180";
/** As with `mcp`. */
const MCP_ANSWER_WITHIN_MS = 45_000;
const STOPPING = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export const serve: Command = {
  name: "serve",
  summary: "Serve the console: a page for people, and everything over HTTP for programs",
  usage: "sallyport serve [OPTIONS]",
  options: {
    listen: { type: "string" },
    workspace: { type: "string" },
    tools: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    "tls-cert": { type: "string" },
    "tls-key": { type: "string" },
    "insecure-listen": { type: "boolean" },
    "no-link": { type: "boolean" },
  },
  help: {
    listen: `[HOST:]PORT: where to listen; port 0 takes a free one [${DEFAULT_LISTEN}]`,
    workspace: "DIR: where commands run [the current folder]",
    tools: `NAME,…: which toolsets agents get at /mcp: ${TOOLSETS.join(", ")} [bash]`,
    "allow-host": "NAME: a further name this service may be called by; repeatable",
    "tls-cert": "FILE: speak TLS with this certificate (PEM), needed beyond this machine",
    "tls-key": "FILE: its private key (PEM)",
    "insecure-listen": "listen beyond this machine without TLS: everybody in between can read and change everything",
    "no-link": "print no link to sign in with; `sallyport token link` prints one later",
    agent: "NAME: whose commands a person's are who names no other [default]",
    json: "print {url, link} as JSON",
  },
  examples: [
    "sallyport serve",
    "sallyport serve --listen 8080 --workspace ~/app",
    "sallyport serve --listen 0.0.0.0:4180 --tls-cert cert.pem --tls-key key.pem --allow-host console.example.org",
  ],
  notes: `It prints a link that signs you in once, as an operator, within ten minutes. Others sign in with a token:
\`sallyport token create ann --role approver\`. docs/console.md tells of roles and of what the service guards against.`,
  run: async (invocation) => {
    const { positionals, rest } = invocation;
    const [unexpected] = [...positionals, ...(rest ?? [])];
    if (unexpected !== undefined) throw new UsageError(`\`serve\` takes no \`${unexpected}\``);
    const stop = new AbortController();
    for (const signal of STOPPING) process.once(signal, () => stop.abort());
    const place = placeOf(invocation.values);
    // Whoever started it gets an operator's link: that must be a person, not a command (promise 7).
    await assertPerson();
    await serveUntil(invocation, place, stop.signal);
    return 0;
  },
};

type Place = Pick<ServeOptions, "host" | "port" | "tls" | "names"> & { toolsets: ReturnType<typeof toolsetsOf> };

function placeOf(values: Invocation["values"]): Place {
  const text = textOption(values, "listen") ?? DEFAULT_LISTEN;
  const listen = parseListen(text);
  if (!listen) throw new UsageError(`\`--listen\` must be a port or HOST:PORT; received \`${text}\``);
  const tls = tlsOf(values);
  if (!tls && !isLoopback(listen.host) && !values["insecure-listen"]) {
    throw new UsageError(
      `\`--listen ${text}\` can be reached from other machines: give \`--tls-cert\` and \`--tls-key\`, or \`--insecure-listen\` if something else keeps others out`,
    );
  }
  const toolsets = toolsetsOf(textOption(values, "tools") ?? "bash");
  return { ...listen, tls, names: textOptions(values, "allow-host"), toolsets };
}

function tlsOf(values: Invocation["values"]): Place["tls"] {
  const [cert, key] = [textOption(values, "tls-cert"), textOption(values, "tls-key")];
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) throw new UsageError("`--tls-cert` and `--tls-key` go together");
  return { cert: fileOf("tls-cert", cert), key: fileOf("tls-key", key) };
}

function fileOf(option: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`\`--${option}\` cannot be read: ${(error as Error).message}`);
  }
}

async function serveUntil({ values, io }: Invocation, place: Place, signal: AbortSignal): Promise<void> {
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
    const { toolsets, ...where } = place;
    const mcp = { state, workspace, toolsets, answerWithinMs: MCP_ANSWER_WITHIN_MS, onDisconnect: "keep" as const };
    const version = packageVersion();
    const serving = await start({ ...where, gateway, workspace, version, mcp, tracing, onfailure });
    const { who } = localUser();
    const link = values["no-link"]
      ? null
      : signInUrl(serving.url, createOperatorLink(gateway.signIns, gateway.audit, who));
    if (values.json) io.out(`${JSON.stringify({ url: serving.url, link })}\n`);
    else io.err(`Serving the console at ${serving.url}\n${link ? `Sign in once, within ten minutes: ${link}\n` : ""}`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    await serving.close();
  } finally {
    await gateway.close();
  }
}

/** Traces where the operator's environment says so, as for every program that sends them. */
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

/** Parses `HOST:PORT`, `PORT` or `[::1]:PORT`; null when it is none of these. */
function parseListen(text: string): { host: string; port: number } | null {
  const [, host = "127.0.0.1", port] = /^(?:(\[[0-9a-fA-F:.]+\]|[^:\s]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return null;
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** Whether only this machine can reach it. Of all names only `localhost` is certain. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
