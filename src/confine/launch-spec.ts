import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { SallyportError } from "../contract/error.ts";
import type { RunRequest } from "../contract/request.ts";
import type { LaunchSpec } from "../executor/executor.ts";
import type { Confined } from "./confine.ts";

export const DEFAULT_DISK_CAP = 64 << 20;
export const DEFAULT_GRACE_MS = 5000;
export const DEFAULT_TIMEOUT_MS = 60_000;
const TITLE_LENGTH = 200;

/** What the gateway contributes to every launch. */
export interface LaunchContext {
  workspace: string;
  env: Record<string, string>;
  /** Found when first needed: a machine without bash can still run programs directly. */
  shell: () => string;
  durable: boolean;
}

/** The bash that runs shell text, by its full path: never one an agent's PATH leads to (promise 2). */
export function findShell(path: string | undefined): string {
  const folders = [
    "/bin",
    "/usr/bin",
    "/usr/local/bin",
    ...(path ?? "").split(delimiter).filter((f) => f.startsWith("/")),
  ];
  for (const folder of folders) {
    try {
      accessSync(join(folder, "bash"), constants.X_OK);
      return join(folder, "bash");
    } catch {
      // not here
    }
  }
  throw new SallyportError("CommandNotFound", "bash was not found; shell text needs it.", [
    { action: "install_bash", hint: "Install bash, or run programs directly by giving `args`." },
  ]);
}

function program(request: RunRequest, shell: () => string): Pick<LaunchSpec, "file" | "argv"> {
  if (request.args) return { file: request.command, argv: [request.command, ...request.args] };
  // `--`: a text that starts with a dash is text, not options.
  return { file: shell(), argv: ["bash", "-c", "--", request.command] };
}

function unconfined(request: RunRequest, { workspace, env }: LaunchContext): Confined {
  return {
    cwd: resolve(workspace, request.cwd ?? "."),
    logFile: request.logFile === undefined ? null : resolve(workspace, request.logFile),
    root: null,
    env: request.env ? { ...env, ...request.env } : env,
    limits: { processes: null, openFiles: null, fileSize: null },
  };
}

/** From what was asked to exactly what will run. */
export function launchSpec(
  request: RunRequest,
  context: LaunchContext,
  id: string,
  name: string,
  background: boolean,
  confined: Confined = unconfined(request, context),
): LaunchSpec {
  const { env, cwd, root, logFile, limits } = confined;
  const text = request.args ? [request.command, ...request.args].join(" ") : request.command;
  return {
    id,
    title: `${name} ${text}`.slice(0, TITLE_LENGTH),
    ...program(request, context.shell),
    path: env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    env,
    cwd,
    root,
    stdin: request.stdin ?? "none",
    capture: request.capture ?? "apart",
    timeoutMs: request.timeoutMs ?? (background ? 0 : DEFAULT_TIMEOUT_MS),
    graceMs: request.graceMs ?? DEFAULT_GRACE_MS,
    diskCap: request.diskCap ?? DEFAULT_DISK_CAP,
    logFile,
    limits,
    background,
    durable: context.durable,
  };
}
