import type { RunRequest } from "./request.ts";
import type { Capture } from "./session.ts";
import type { TerminalSize } from "./terminal.ts";

/** Everything an executor needs to run one command: plain data, so that it can travel. */
export interface LaunchSpec {
  id: string;
  /** What `ps` shows. */
  title: string;
  /** The program; searched on `path` when it holds no slash. */
  file: string;
  path: string;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** `cwd` and `logFile` hold no links and are opened beneath this folder, or not at all. Null: wherever they lead. */
  root: string | null;
  stdin: "none" | "open" | { text: string };
  capture: Capture;
  /** Its terminal, which is then stdin ("open") and the one stream ("merged"); null: it runs on pipes. */
  pty: TerminalSize | null;
  timeoutMs: number;
  graceMs: number;
  diskCap: number;
  logFile: string | null;
  limits: LaunchLimits;
  /** Null: no confinement. */
  sandbox: SandboxSpec | null;
  background: boolean;
  /** Flush the exit record to disk before anyone is told. */
  durable: boolean;
  /** What all this was made from. Who runs it elsewhere judges and confines it there, and makes it anew. */
  origin?: Origin;
}

/** What was asked for, and who said yes to it. */
export interface Origin {
  agent: string;
  /** What the session is called here. */
  name: string;
  /** The folder that paths of the request are meant within. */
  workspace: string;
  request: RunRequest;
  /** Null: nobody had to be asked. */
  approval: { approval: string | null; grants: string[]; approvers: string[] } | null;
}

export interface LaunchLimits {
  /** Processes and threads of the whole tree; null: no limit. */
  processes: number | null;
  /** Kept by the kernel, where it can; else the keeper looks now and then, which costs a command nothing. */
  exactProcesses: boolean;
  /** Null: 1024, which the command may raise. */
  openFiles: number | null;
  /** Null: as inherited. */
  fileSize: number | null;
  /** Processors, of the whole tree, such as 0.5; it is slowed down to that. Null: no limit. */
  cpu: number | null;
  /** Of the whole tree; null: no limit. */
  memoryBytes: number | null;
  /** What the whole tree may write to files; looked at now and then. Null: no limit. */
  diskBytes: number | null;
}

/** A limit that a command was ended for. */
export interface ExceededLimit {
  kind: "memory" | "processes" | "disk" | "fileSize";
  value: number;
  /** How far it got; 0: not known. */
  peak: number;
}

/** How the kernel keeps a command in bounds: plain data, made by confine/ and applied just before the exec. */
export interface SandboxSpec {
  /** Also gets user, mount, pid, ipc and uts namespaces of its own. */
  isolated: boolean;
  /** Absolute, links followed. What may be written besides /dev/null and the like. */
  writable: string[];
  /** Within `writable`, but to be left as they are. Those that do not exist are passed by. */
  readOnly: string[];
  /** Absolute, links followed as far as they exist. Neither read nor written nor connected to, there yet or not. */
  denied: string[];
  /** Put out of sight where they exist and a mount namespace can be had: sockets, which no rule keeps closed. */
  masked: string[];
  /** A private temporary folder the command may write to; null: none. */
  temporary: string | null;
  network: "on" | "off" | { ports: number[] };
  /** The ordinary user it runs as; null: as the keeper's own. */
  user: { uid: number; gid: number; groups: number[] } | null;
  /** Rather fail than leave a part of this out. */
  require: boolean;
}

/** What this machine lets an executor confine commands with: tried, not guessed. */
export interface SandboxCapabilities {
  /** The kernel's Landlock ABI; 0: none. */
  landlock: number;
  /** A private mount namespace, which read-only and hidden spots need: as root, through a user namespace, or none. */
  mounts: "root" | "user" | "none";
  /** Namespaces for processes, users, names and shared memory besides: what `isolated` adds. */
  isolation: boolean;
  /** A network of its own, with nothing but its loopback. */
  networkNamespace: boolean;
  seccomp: boolean;
}

export const NO_LIMITS: LaunchLimits = {
  processes: null,
  exactProcesses: false,
  openFiles: null,
  fileSize: null,
  cpu: null,
  memoryBytes: null,
  diskBytes: null,
};
