/** Starts a server as a host does, and asks it for its tools. */
import { type ChildProcess, spawn } from "node:child_process";
import { packageVersion } from "../core/version.ts";

export interface Launch {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
}

export type ProbeResult = { tools: string[]; failure: null } | { tools: null; failure: string };

const TIMEOUT_MS = 60_000;
const KILL_AFTER_MS = 3000;
const MAX_STDERR = 4000;
const MAX_STDOUT = 4 << 20;

/** Performs the MCP handshake and lists the tools. Ends the server afterwards. */
export async function probeServer({ command, args, env, cwd }: Launch): Promise<ProbeResult> {
  const child = spawn(command, args, { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const exited = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  try {
    return { tools: await listTools(child), failure: null };
  } catch (error) {
    return { tools: null, failure: (error as Error).message };
  } finally {
    child.stdin.end();
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    await exited;
    clearTimeout(timer);
  }
}

/** The exit code of a hook that denies without an answer in the format of its host. */
const DENIED = 2;

/** Reports whether the answer of a hook denies, in the format of any host. */
function isDenial(stdout: string): boolean {
  try {
    const { decision, permissionDecision, permission, cancel, hookSpecificOutput } = JSON.parse(stdout);
    const decisions = [decision, permissionDecision, permission, hookSpecificOutput?.permissionDecision];
    return decisions.includes("deny") || cancel === true;
  } catch {
    return false;
  }
}

/** Runs a hook with an event that it must deny. Returns null when it does, and else why it did not. */
export async function probeHook(launch: Launch): Promise<string | null> {
  const ended = await runToEnd(launch, "{}");
  if (typeof ended === "string") return ended;
  const { code, stdout } = ended;
  if (code === DENIED || (code === 0 && isDenial(stdout))) return null;
  return code === 0 ? "it does not deny an event that it cannot read" : howItEnded(ended);
}

/** What our shell says about a `-c` without text. With it, the check runs no command. */
const MISSING_TEXT = /-c: option requires an argument/;

/** Starts our shell. Returns null when it works, and else why it does not. */
export async function probeShell(launch: Launch): Promise<string | null> {
  const ended = await runToEnd({ ...launch, args: ["-c"] }, "");
  if (typeof ended === "string") return ended;
  return ended.code === SHELL_FAILED && MISSING_TEXT.test(ended.stderr) ? null : howItEnded(ended);
}

/** The exit code of our shell when it runs nothing. */
const SHELL_FAILED = 125;

interface Ended {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

function howItEnded({ code, signal, stderr }: Ended): string {
  return `it ended with ${signal ?? `exit code ${code}`}${because(stderr)}`;
}

/** Runs a program until it ends. Returns why it could not be started, as a text. */
function runToEnd({ command, args, env, cwd }: Launch, input: string): Promise<Ended | string> {
  const child = spawn(command, args, { env, cwd, stdio: "pipe", timeout: TIMEOUT_MS });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data: Buffer) => {
    if (stdout.length < MAX_STDERR) stdout += data;
  });
  child.stderr.on("data", (data: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += data;
  });
  child.stdin.on("error", () => {}); // reported by `close`
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      resolve(`it cannot be started (${error.code ?? error.message})`),
    );
    child.once("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

interface Message {
  id?: unknown;
  result?: { tools?: { name?: unknown }[] };
  error?: { message?: unknown };
}

function listTools(child: ChildProcess): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  let stderr = "";
  let buffered = "";
  const timer = setTimeout(
    () => reject(new Error(`it did not answer within ${TIMEOUT_MS / 1000} seconds${because(stderr)}`)),
    TIMEOUT_MS,
  );
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const receive = ({ id, result, error }: Message) => {
    if (error) return reject(new Error(String(error.message)));
    if (id === 1) {
      send({ method: "notifications/initialized" });
      send({ id: 2, method: "tools/list" });
    } else if (id === 2) resolve((result?.tools ?? []).map(({ name }) => String(name)));
  };
  child.on("error", (error: NodeJS.ErrnoException) =>
    reject(new Error(`it cannot be started (${error.code ?? error.message})`)),
  );
  child.on("close", (code, signal) =>
    reject(new Error(`it ended with ${signal ?? `exit code ${code}`}${because(stderr)}`)),
  );
  child.stdin?.on("error", () => {}); // reported by `close`
  child.stderr?.on("data", (data: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += data;
  });
  child.stdout?.on("data", (data: Buffer) => {
    buffered += data;
    if (buffered.length > MAX_STDOUT) return reject(new Error("its answer is too long"));
    const lines = buffered.split("\n");
    buffered = lines.pop() ?? "";
    for (const line of lines) {
      try {
        receive(JSON.parse(line) as Message);
      } catch {
        reject(new Error(`it wrote something else than MCP to stdout${because(line)}`));
      }
    }
  });
  const clientInfo = { name: "sallyport-setup", version: packageVersion() };
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  return promise.finally(() => clearTimeout(timer));
}

function because(output: string): string {
  const text = output.trim();
  return text === "" ? "" : `: ${text.slice(0, MAX_STDERR)}`;
}
