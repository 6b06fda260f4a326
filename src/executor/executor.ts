import type { ListQuery } from "../core/gateway.ts";
import type { LaunchSpec } from "../core/launch.ts";
import type { Capture, SessionInfo } from "../core/session.ts";
import type { Execution, ExitOutcome, ExitRecord } from "./execution.ts";
import type { SessionLabel } from "./native/exit-record.ts";
import type { SessionData } from "./session-data.ts";

export interface PeerQuery extends Omit<ListQuery, "agent" | "limit"> {
  /** The agent whose sessions are listed. If undefined, all sessions that this gateway may see are listed. */
  agent: string | undefined;
  /** The agent whose sessions are listed if this gateway may not see those of all agents. */
  own: string;
  limit: number;
}

export interface PeerListing {
  /** Newest first. */
  sessions: SessionInfo[];
  /** Whether there are older sessions. */
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
  /** Finds sessions by ID, prefix of an ID, or the name their gateway gave them. */
  find(reference: string, whose: Pick<PeerQuery, "agent" | "own">): Promise<SessionInfo[]>;
  /** Attaches to a live session; `onUpdate` is called with each new state. */
  attach(session: SessionInfo, onUpdate: (now: SessionInfo) => void): Execution & { refresh(): Promise<unknown> };
}

/**
 * The features that an executor supports. Results have warnings about the others, and `sallyport doctor` lists them.
 */
export interface Abilities {
  readonly kind: "native" | "portable" | "fleet";
  /** Whether the executor enforces a `SandboxSpec`. Otherwise commands run with the gateway's privileges. */
  readonly confines: boolean;
  /** Whether commands, deadlines and capture continue when the gateway exits. */
  readonly survives: boolean;
  /** Whether a kill ends every descendant, and not only those that can be found. */
  readonly exactTrees: boolean;
  /** Whether the executor enforces `LaunchLimits`. */
  readonly limits: boolean;
  /** Whether the executor can open terminals. */
  readonly pty: boolean;
  /** Whether commands run on other machines, so that the paths and programs of a request are not on this one. */
  readonly remote: boolean;
}

/** The database row of a session that is recorded as running. */
export interface LiveSession {
  id: string;
  name: string;
  agent: string;
  keeper_pid: number;
  created_ms: number;
  background: number;
  /** 1 when the main process has ended and descendants still run; otherwise 0. */
  lingering: number;
}

/** A session and, if it ran on another machine, the name of that machine. */
export interface SessionRef {
  id: string;
  agent: string;
  capture: Capture;
  host?: string | null;
}

/** A session without a row, and what its keeper has stored about it. */
export interface UnknownSession {
  id: string;
  label: SessionLabel | null;
  record: ExitRecord | null;
}

/** Runs commands on this machine or on others. It is independent of policy. */
export interface Executor {
  readonly abilities: Abilities;
  /** Undefined if no other gateway uses the same machines. */
  readonly peerSessions?: PeerSessions;
  /** Reserves a keeper for one command, so that its launch is quick. */
  prepare(): Promise<Slot>;
  /** Reconnects to a running command. Resolves with null if it does not run or its state is not known yet. */
  attach(session: LiveSession): Promise<Execution | null>;
  /** Updates the data that `lookUpExit` uses. Does nothing if the command's files are on this machine. */
  refresh(live: () => LiveSession[]): Promise<void>;
  /**
   * Returns the outcome of a command that has no `Execution` in this gateway, or null if it is believed to run.
   * `keeperNow` reads the keeper's pid from the row again, because another keeper may have taken over the launch.
   */
  lookUpExit(session: LiveSession, keeperNow: () => number | undefined): ExitOutcome | null;
  /** Returns access to the output and state of a command. */
  data(session: SessionRef): SessionData;
  /** Removes all data of a finished command. */
  remove(id: string): void;
  /** Removes the data of a finished command except its exit record. */
  removeOutput(id: string): void;
  /** Returns the sessions that have data here but no row, because the machine lost power before it was on the disk. */
  unknownSessions(isKnown: (id: string) => boolean): UnknownSession[];
  /**
   * Removes what the file system has put in place of output that was not on the disk when the machine lost power. `known`
   * is the exit record in the session's row, if any. Returns the exit record that then applies, or null if there is none.
   */
  repairOutput(session: { id: string; capture: Capture }, known: ExitRecord | null): ExitRecord | null;
  /** Removes the data of sessions without a row. */
  removeStrays(isKnown: (id: string) => boolean, now: number): void;
  close(): Promise<void>;
}

/** A reservation for one command, made before anything is recorded about it. */
export interface Slot {
  readonly keeperPid: number;
  /** Launches the command. `onMoved` is called before the launch is retried with another keeper. */
  launch(spec: LaunchSpec, onMoved: (keeperPid: number) => void): Execution;
  /** Releases the reservation. Does nothing after the launch. */
  cancel(): void;
}

/** Returns the warnings in every result about features that the executor does not support. */
export function abilityNotes({ kind, confines, exactTrees, limits }: Abilities): string[] {
  if (kind !== "portable") return [];
  const lacks = [
    ...(confines ? [] : ["no sandbox"]),
    ...(limits ? [] : ["no resource limits"]),
    ...(exactTrees ? [] : ["detached processes may survive a kill"]),
  ];
  return [`the command ran with the portable executor: ${lacks.join(", ")}`];
}

/** Returns the limitations of the portable executor for `sallyport doctor`. */
export function portableLimitations({ confines, exactTrees, limits, pty }: Abilities): string[] {
  return [
    ...(confines ? [] : ["no sandbox, so commands run only if the operator allows it"]),
    ...(limits ? [] : ["no resource limits"]),
    ...(exactTrees ? [] : ["detached processes may survive a kill"]),
    "all sessions are lost if the keeper is killed",
    "no resource usage in results",
    ...(pty ? [] : ["no terminals (install the optional package @lydell/node-pty)"]),
  ];
}
