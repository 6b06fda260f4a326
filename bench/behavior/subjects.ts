import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { execa } from "execa";
import { desktopCommander } from "../mcp/peer-server.ts";
import { benchGateway } from "../measure.ts";
import { peerProgram } from "../peers.ts";
import { rawPty } from "../terminal/node-pty.ts";

/** A tool that runs shell text, used as its documentation recommends. */
export interface Subject {
  name: string;
  start(text: string): Promise<Running>;
  leave(): Promise<void>;
}

export interface Running {
  /** Resolves with the output when the command has ended. */
  ended: Promise<string>;
  /** Kills the command with the method that the tool provides. */
  kill(): unknown;
}

/** The working directory and the home directory of the commands. */
export interface Place {
  workspace: string;
  home: string;
}

const NOTHING = async () => {};

function byChild(name: string, make: (text: string) => ChildProcess): Subject {
  const start = async (text: string) => {
    const child = make(text);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (bytes) => (output += bytes));
    return { ended: once(child, "close").then(() => output), kill: () => child.kill() };
  };
  return { name, start, leave: NOTHING };
}

function byExeca(text: string, options: { cwd: string; env: NodeJS.ProcessEnv }): Running {
  const child = execa("bash", ["-c", text], { ...options, reject: false });
  return { ended: child.then(({ stdout }) => stdout), kill: () => child.kill() };
}

async function ours({ workspace }: Place): Promise<Subject> {
  const { gateway, leave } = await benchGateway({ workspace });
  const start = async (text: string) => {
    const session = await gateway.start({ command: text }, { foreground: true });
    const ended = session.wait().then(async () => (await session.logs({})).text);
    return { ended, kill: () => session.kill() };
  };
  return { name: "sallyport", start, leave };
}

async function commander(): Promise<Subject | null> {
  const server = await desktopCommander();
  if (server === null) return null;
  const start = async (command: string) => {
    // The call returns when the command has ended, or after `timeout_ms` with the PID of the running command.
    const result = await server.call("start_process", { command, timeout_ms: 1000 });
    const pid = Number(/PID (\d+)/.exec(JSON.stringify(result))?.[1]);
    return { ended: Promise.resolve(JSON.stringify(result)), kill: () => server.call("force_terminate", { pid }) };
  };
  return { name: "desktop-commander (MCP)", start, leave: () => server.leave() };
}

/** Returns the tools that are installed. */
export async function subjects(place: Place): Promise<Subject[]> {
  const { workspace: cwd, home } = place;
  const env = { ...process.env, HOME: home };
  const program = (name: string, file: string, words: (text: string) => string[]) => {
    const found = peerProgram(file);
    return found === null ? null : byChild(name, (text) => spawn(found, words(text), { cwd, env }));
  };
  const pty: Subject = {
    name: "node-pty",
    start: async (text) => {
      const terminal = rawPty(text);
      let output = "";
      terminal.onData((bytes) => (output += bytes));
      return { ended: terminal.ended.then(() => output), kill: () => terminal.kill() };
    },
    leave: NOTHING,
  };
  const view = [
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--tmpfs",
    "/tmp",
  ];
  const all = [
    await ours(place),
    byChild("child_process.spawn", (text) => spawn("bash", ["-c", text], { cwd, env })),
    { name: "execa", start: async (text: string) => byExeca(text, { cwd, env }), leave: NOTHING },
    pty,
    program("bwrap --unshare-all", "bwrap", (text) => [...view, "--bind", cwd, cwd, "bash", "-c", text]),
    program("sandbox-runtime (srt)", "srt", (text) => ["-c", text]),
    program("codex sandbox", "codex", (text) => ["sandbox", "--", "bash", "-c", text]),
    await commander(),
  ];
  return all.filter((subject) => subject !== null);
}
