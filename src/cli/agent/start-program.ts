import { existsSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { SallyportError } from "../../core/error.ts";
import type { HostAccess } from "../../core/launch.ts";
import { operatorStep } from "../../core/next-step.ts";
import type { RunRequest } from "../../core/request.ts";
import type { TerminalSize } from "../../core/terminal.ts";
import { SESSION_VARIABLE } from "../../executor/processes.ts";
import { openHostGateway } from "../../gateway/open.ts";
import type { Io } from "../command.ts";
import { runOnTerminal, runStreamed } from "../commands/session/run-foreground.ts";
import { waitingNote } from "../notes.ts";
import { promptUnlessAttached } from "../terminal/approval-prompt.ts";
import { localTerminal } from "../terminal/tty.ts";
import { type GatewayProcess, startGatewayProcess } from "./gateway-client.ts";
import type { LoadedProfile } from "./profile.ts";
import { assertInstalled, createPaths, type ResolvedProfile, resolveProfile, withoutSlash } from "./resolve-profile.ts";
import { channelOf, createRunFolder, fillRunFolder } from "./run-folder.ts";

export interface ProgramOptions {
  profile: LoadedProfile;
  agent: string;
  /** The arguments of the command line. */
  arguments: readonly string[];
  /** The name of the session. */
  name: string | undefined;
  size: TerminalSize | undefined;
  /** Whether the program has the network although its commands may not. */
  network: boolean;
  state: string;
}

/** Starts the program of an agent and serves its commands. Returns the exit code of the program. */
export async function startProgram(options: ProgramOptions, io: Io): Promise<number> {
  assertOutside();
  const machine = { home: process.env.HOME || homedir(), workspace: realpathSync.native("."), env: process.env };
  assertInstalled(options.profile, resolveProfile(options.profile, { ...machine, runFolder: "" }));
  const runFolder = await createRunFolder();
  let gateway: GatewayProcess | null = null;
  try {
    const profile = resolveProfile(options.profile, { ...machine, runFolder });
    fillRunFolder(runFolder, profile.files);
    createPaths(profile);
    gateway = await startGatewayProcess({
      state: options.state,
      workspace: machine.workspace,
      agent: options.agent,
      channel: channelOf(runFolder),
      runFolder,
      hidden: [...options.profile.variables, ...Object.keys(profile.environment)],
      waits: io.isTTY.stdin && io.isTTY.stdout,
    });
    return await run(options, profile, { runFolder, gateway, workspace: machine.workspace, io });
  } finally {
    // The process removes the folder when it ends, which may be long after this command, when a person has detached.
    if (gateway) gateway.release();
    else rmSync(runFolder, { recursive: true, force: true });
  }
}

interface Surroundings {
  runFolder: string;
  gateway: GatewayProcess;
  workspace: string;
  io: Io;
}

async function run(
  options: ProgramOptions,
  profile: ResolvedProfile,
  { runFolder, gateway: process_, workspace, io }: Surroundings,
): Promise<number> {
  let session: string | null = null;
  const isInteractive = io.isTTY.stdin && io.isTTY.stdout;
  const gateway = await openHostGateway(
    {
      state: options.state,
      workspace,
      agent: options.agent,
      attach: false,
      channel: "cli",
      onEvent: (event) => {
        if (event.type === "started") {
          session = event.session;
          process_.serve(event.session);
        } else if (event.type === "approval-requested" && !io.isTTY.stdin) {
          io.err(`${waitingNote(event.approval)}\n`);
        }
      },
      ...(io.isTTY.stdin && io.isTTY.stderr
        ? { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) }
        : {}),
    },
    accessOf(profile, runFolder, options.network),
  );
  try {
    const code = await (isInteractive ? runOnTerminal : runStreamed)(
      gateway,
      requestOf(options, profile, isInteractive ? (options.size ?? localTerminal(io)?.size()) : null),
      io,
      true,
    );
    const ended = session !== null && gateway.session(session).info().status !== "running";
    if (ended) await process_.ended();
    return code;
  } finally {
    await gateway.close();
  }
}

/** Throws in a session: its sandbox hides the state folder, so the program could not be started. */
function assertOutside(): void {
  if (process.env[SESSION_VARIABLE] === undefined) return;
  throw new SallyportError("InvalidRequest", "`sallyport agent` cannot be used within a session.", [
    operatorStep("check_scope", "Start the program in a terminal outside of Sallyport."),
  ]);
}

function accessOf(profile: ResolvedProfile, runFolder: string, network: boolean): HostAccess {
  const absent = profile.notCreated.map(withoutSlash).filter((path) => !existsSync(path));
  return {
    writable: profile.writable.map(withoutSlash),
    readable: profile.readable.map(withoutSlash),
    protected: profile.protected.map(withoutSlash).filter((path) => !absent.includes(path)),
    absent,
    runFolder,
    network,
    channel: channelOf(runFolder),
    variables: [...profile.variables, ...Object.keys(profile.environment)],
  };
}

function requestOf(
  options: ProgramOptions,
  profile: ResolvedProfile,
  size: TerminalSize | null | undefined,
): RunRequest {
  return {
    command: profile.program ?? "",
    args: [...profile.arguments, ...options.arguments],
    env: profile.environment,
    stdin: "open",
    timeoutMs: 0,
    ...(size === null ? {} : { pty: true, ...(size === undefined ? {} : { size }) }),
    ...(options.network ? { network: "on" as const } : {}),
    ...(options.name === undefined ? {} : { name: options.name }),
  };
}
