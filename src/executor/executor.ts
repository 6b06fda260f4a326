import type { ListQuery } from "../core/gateway.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { Capture, SessionInfo } from "../core/session.ts";
import type { Execution, ExitOutcome } from "./execution.ts";
import type { SessionData } from "./session-data.ts";

export interface PeerQuery extends Omit<ListQuery, "agent" | "limit"> {
  /** Undefined: every agent's sessions, if this gateway may see them. */
  agent: string | undefined;
  /** The agent whose sessions are listed where those of every agent may not be seen. */
  own: string;
  limit: number;
}

export interface PeerListing {
  /** Newest first. */
  sessions: SessionInfo[];
  /** There are older sessions than these. */
  more: boolean;
  total: number;
  /** Machines that did not respond. */
  silent: string[];
  /** Machines whose release does not support listing. */
  tooOld: string[];
}

/** Sessions that other gateways started on the machines of this executor. */
export interface PeerSessions {
  list(query: PeerQuery): Promise<PeerListing>;
  /** Finds sessions by id, prefix of an id, or the name their gateway gave them. */
  find(reference: string, whose: Pick<PeerQuery, "agent" | "own">): Promise<SessionInfo[]>;
  /** Attaches to a live session; `onUpdate` is called with each new state. */
  attach(session: SessionInfo, onUpdate: (now: SessionInfo) => void): Execution & { refresh(): Promise<unknown> };
}

/**
 * What an executor supports. Policy treats a command that cannot be confined as unconfined. Results have `warnings`
 * about missing abilities, and `sallyport doctor` lists them.
 */
export interface Abilities {
  readonly kind: "native" | "portable" | "fleet";
  /** Applies a `SandboxSpec` in the kernel. Otherwise commands run with the gateway's rights. */
  readonly confines: boolean;
  /** Commands, deadlines and capture continue without the gateway. */
  readonly survives: boolean;
  /** Ends every descendant. Otherwise those that can be found. */
  readonly exactTrees: boolean;
  /** Enforces `LaunchLimits`. */
  readonly limits: boolean;
  /** Opens terminals. */
  readonly pty: boolean;
  /** Runs commands on other machines, so the paths and programs of a request are not on this one. */
  readonly remote: boolean;
}

/** The row of a session that counts as running. */
export interface LiveSession {
  id: string;
  name: string;
  agent: string;
  keeper_pid: number;
  created_ms: number;
  background: number;
  /** 1: its main process has ended, and descendants still run. */
  lingering: number;
}

/** A session and, if known, the other machine that has it. */
export interface SessionRef {
  id: string;
  agent: string;
  capture: Capture;
  host?: string | null;
}

/** Runs commands, on this machine or others. It does not depend on policy. */
export interface Executor {
  readonly abilities: Abilities;
  /** Missing if no other gateway uses the same machines. */
  readonly peerSessions?: PeerSessions;
  /** Reserves what one command needs, so that its launch is quick. */
  prepare(): Promise<Slot>;
  /** Reconnects to a running command. Null: it does not run, or that is not known yet. */
  attach(session: LiveSession): Promise<Execution | null>;
  /** Updates what `lookUpExit` knows. Does nothing where the disk has all of it. */
  refresh(live: () => LiveSession[]): Promise<void>;
  /**
   * The outcome of a command that has no `Execution` here; null: as far as is known, it runs. `keeperNow` reads the
   * keeper from its row again, because another keeper may have started the command in between.
   */
  lookUpExit(session: LiveSession, keeperNow: () => number | undefined): ExitOutcome | null;
  /** Access to the output and state of a command. */
  data(session: SessionRef): SessionData;
  /** Removes all data of a finished command. */
  remove(id: string): void;
  /** Removes the data of a finished command except its exit record. */
  removeOutput(id: string): void;
  /** Removes the data of sessions without a row. */
  removeStrays(isKnown: (id: string) => boolean, now: number): void;
  close(): Promise<void>;
}

/** A reservation for one command, made before anything is recorded about it. */
export interface Slot {
  readonly keeperPid: number;
  /** `onMoved` is called before another keeper is given the command. */
  launch(spec: LaunchSpec, onMoved: (keeperPid: number) => void): Execution;
  /** Releases the reservation. Does nothing after the launch. */
  cancel(): void;
}

/** One warning for every result about what the executor does not support. */
export function abilityNotes({ kind, confines, exactTrees, limits }: Abilities): string[] {
  if (kind !== "portable") return [];
  const lacks = [
    ...(confines ? [] : ["the kernel does not confine it"]),
    ...(limits ? [] : ["resource limits do not hold"]),
    ...(exactTrees ? [] : ["a process that hides from its tree outlives it"]),
  ];
  return [`run by the portable executor: ${lacks.join(", ")} (see \`sallyport doctor\`)`];
}

/** The limitations of the portable executor, for `sallyport doctor`. */
export function portableLimitations({ confines, exactTrees, limits, pty }: Abilities): string[] {
  return [
    ...(confines ? [] : ["no kernel confinement, so what would run confined is asked about"]),
    ...(limits ? [] : ["no resource limits"]),
    ...(exactTrees ? [] : ["trees are ended as far as they can be found"]),
    "all commands are lost if their one keeper is killed",
    "no figures of what a command used",
    ...(pty ? [] : ["no terminals (install the optional package @lydell/node-pty)"]),
  ];
}
