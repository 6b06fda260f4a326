import type { RunRequest } from "./request.ts";
import type { UnsupportedFeature } from "./sandbox-level.ts";
import type { Capture } from "./session.ts";
import type { TerminalSize } from "./terminal.ts";

/**
 * Everything an executor needs to run one command. Plain data, so that it can be sent to another process or machine.
 */
export interface LaunchSpec {
  id: string;
  /** The process title of the keeper, as `ps` shows it. */
  title: string;
  /** The program; searched on `path` when it contains no slash. */
  file: string;
  path: string;
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /**
   * `cwd` and `logFile` must resolve beneath this folder, without symbolic links; null when there is no restriction.
   */
  root: string | null;
  stdin: "none" | "open" | { text: string };
  capture: Capture;
  /**
   * The size of the command's terminal, which implies `stdin: "open"` and `capture: "merged"`; null when the command
   * runs on pipes.
   */
  pty: TerminalSize | null;
  timeoutMs: number;
  graceMs: number;
  diskCap: number;
  logFile: string | null;
  limits: LaunchLimits;
  /** Null when the command is not sandboxed. */
  sandbox: SandboxSpec | null;
  background: boolean;
  /** Whether to flush the output and the exit record to disk before the exit is reported. */
  durable: boolean;
  /** What is known about the session, as JSON. The keeper stores it beside the exit record. */
  label?: string;
  /** The request that this launch was planned from. A worker evaluates its own policy on it and plans it again. */
  origin?: Origin;
}

/** The original request and its approval. */
export interface Origin {
  agent: string;
  /** The name of the session on this gateway. */
  name: string;
  /** The folder that relative paths in the request refer to. */
  workspace: string;
  request: RunRequest;
  /** Null when no approval was required. */
  approval: { approval: string | null; grants: string[]; approvers: string[] } | null;
}

export interface LaunchLimits {
  /** Processes and threads of the whole tree; null for no limit. */
  processes: number | null;
  /**
   * Whether to enforce `processes` with a cgroup where possible. If false, the keeper polls, which does not slow down
   * the start.
   */
  exactProcesses: boolean;
  /** Null for a soft limit of 1024, which the command may raise. */
  openFiles: number | null;
  /** Bytes per file; null for the inherited limit. */
  fileSize: number | null;
  /** CPUs for the whole tree, such as 0.5, enforced by throttling; null for no limit. */
  cpu: number | null;
  /** Memory of the whole tree, in bytes; null for no limit. */
  memoryBytes: number | null;
  /** Bytes that the whole tree may write to files, enforced by polling; null for no limit. */
  diskBytes: number | null;
}

/** A limit that a command was killed for exceeding. */
export interface ExceededLimit {
  kind: "memory" | "processes" | "disk" | "fileSize";
  value: number;
  /** The highest usage measured; 0 when unknown. */
  peak: number;
}

/** Masks that broke while a command ran, because a path was created, replaced or moved outside the sandbox. */
export interface BrokenMasks {
  /** `kill` if running processes of the command were killed for it. */
  reaction: "kill" | "warn";
  /** The number of paths. Very long lists are not complete in `paths`. */
  count: number;
  paths: string[];
}

/** The sandbox of one command. Plain data, created by sandbox/ and applied right before the exec. */
export interface SandboxSpec {
  /** Whether to run in separate user, mount, PID, IPC and UTS namespaces. */
  isolated: boolean;
  /** Writable paths, absolute and without symbolic links. Devices such as /dev/null are always writable. */
  writable: string[];
  /** Protected paths within `writable`. Paths that do not exist are ignored. */
  readOnly: string[];
  /**
   * Paths that can be neither read nor written nor connected to, even if they are created later. Absolute, with
   * symbolic links resolved as far as they exist.
   */
  denied: string[];
  /**
   * Masked paths, if they exist and a mount namespace is available: sockets of other programs, and system-wide secrets.
   */
  masked: string[];
  /** Symbolic links in writable folders that lead to denied paths, and therefore cannot be replaced. */
  held: string[];
  /** Paths within `writable` that do not exist. If one appears while the command runs, it counts as a broken mask. */
  absent: string[];
  /** Whether the command is killed when a mask breaks while it runs, or continues with a warning. */
  maskFailure: "kill" | "warn";
  /**
   * Unix sockets, or folders of them, that the command may connect to in addition to those below `writable` and `temporary`.
   * Absolute, with symbolic links resolved as far as they exist.
   */
  sockets: string[];
  /** A private temporary directory that the command may write to; null for none. */
  temporary: string | null;
  /** Private directories that hide shared ones. Empty without a mount namespace. */
  binds: Bind[];
  /** Folders of the machine that stay visible, read-only, below the `at` of a bind. */
  readable: string[];
  network: "on" | "off" | { ports: number[] };
  /** The unprivileged user to run as; null for the keeper's user. */
  user: { uid: number; gid: number; groups: number[] } | null;
  /**
   * Whether to fail instead of running without an unsupported feature. Also set if the gateway expects none to be
   * missing: its verdict depends on it.
   */
  require: boolean;
}

/** A private directory of the command, `source`, that is mounted over a shared one, such as /tmp. */
export interface Bind {
  at: string;
  source: string;
}

/** The sandbox features that this machine supports, determined by trying them. */
export interface SandboxCapabilities {
  /** The kernel's Landlock ABI version; 0 for none. */
  landlock: number;
  /**
   * How a mount namespace, which protected and masked paths need, is available: as root or through a user namespace.
   */
  mounts: "root" | "user" | "none";
  /** Whether the PID, user, UTS and IPC namespaces that `isolated` adds are available. */
  isolation: boolean;
  /** Whether a network namespace with only a loopback interface is available. */
  networkNamespace: boolean;
  seccomp: boolean;
  /**
   * Whether a keeper can decide on each connection of a command (seccomp user notification). If not, commands have no
   * Unix sockets other than socket pairs.
   */
  socketBroker: boolean;
  /**
   * What is not enforced, for the profile `isolated` and for the others, which share namespaces with the machine, and
   * for each network mode.
   */
  unsupported: Record<"shared" | "isolated", Record<"on" | "off" | "ports", readonly UnsupportedFeature[]>>;
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

/**
 * What the program of an agent can access in addition to the agent's commands, for one session that `sallyport agent`
 * starts. All paths are absolute.
 */
export interface HostAccess {
  /** Configuration and cache folders, and files, of the program. It can also read them, although commands cannot. */
  writable: readonly string[];
  /** Built-in denied paths that the program reads, such as its own credentials. */
  readable: readonly string[];
  /** Paths within `writable` that stay read-only, because other programs execute what they contain (invariant 7). */
  protected: readonly string[];
  /** Such paths that do not exist and are not created. The program is ended if one appears. */
  absent: readonly string[];
  /** The folder with the program's generated configuration and the channel, which only this session sees. */
  runFolder: string;
  /** Whether the session requests the network, which requires approval where it is not configured. */
  network: boolean;
  /** The socket on which the gateway accepts commands of this session. */
  channel: string;
  /** Variables that the program inherits although they look like secrets, or that the session sets. */
  variables: readonly string[];
}
