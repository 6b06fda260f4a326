/**
 * The names of all subjects, streams and buckets of a fleet. permissions.ts grants access in terms of these.
 *
 * Sender and receiver are part of the subject, so that the servers can prevent a worker from publishing as another host
 * and a gateway from acting for another agent. Receivers check the sender in a message against its subject.
 */
import { SallyportError } from "../core/error.ts";
import { badFleetName } from "./errors.ts";

const NAME = /^[A-Za-z0-9_-]{1,63}$/;

/**
 * Returns the name of a fleet, host, gateway or label if it is a valid subject token; throws InvalidRequest otherwise.
 */
export function validateName(what: string, name: string): string {
  if (!NAME.test(name)) throw new SallyportError("InvalidRequest", ...badFleetName(what, name));
  return name;
}

/** Turns any text, such as `web.example.com`, into a valid name. */
export function sanitizeName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 63) || "unnamed";
}

/** Encodes an agent name as a subject token. Bytes that are not allowed become `=` and two hexadecimal digits. */
export function agentToken(agent: string): string {
  const bytes = [...Buffer.from(agent)];
  return bytes
    .map((byte) => (/[A-Za-z0-9_-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte)))
    .join("");
}

/** Decodes an agent token. Returns null when the token is not valid. */
export function agentFromToken(token: string): string | null {
  const bytes = token.replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  const agent = Buffer.from(bytes, "latin1").toString();
  return agent !== "" && agentToken(agent) === token ? agent : null;
}

/** The token for all agents. Only gateways that serve all agents have permission to use it. */
export const ALL_AGENTS = "=";

function hex(byte: number): string {
  return `=${byte.toString(16).padStart(2, "0").toUpperCase()}`;
}

/** Where a job may run: on any worker, on one host, or on any worker with a label. */
export type Place = "any" | { host: string } | { label: [name: string, value: string] };

export interface Subjects {
  /** Returns the subject of an agent's job. */
  work(place: Place, agent: string): string;
  /**
   * Returns the subject of a request to the worker that has a session. A null agent addresses the sessions of all
   * agents.
   */
  control(host: string, agent: string | null, operation: string): string;
  /** Returns the subject of an operator's command to a worker: `drain` or `return`. */
  node(host: string, operation: string): string;
  /**
   * Returns the subject of a message from a worker to a gateway process. `flow` is `news` for session events, or names
   * a response stream.
   */
  result(gateway: string, host: string, process: string, flow: string): string;
  /** Returns the subject of a session's exit. */
  exit(host: string, agent: string, session: string): string;
  /** Parses a result subject. Returns null for any other subject. */
  parseResult(subject: string): { gateway: string; host: string; process: string; flow: string } | null;
  /** Parses a job subject. Returns null for any other subject. */
  parseWork(subject: string): { place: Place; agent: string } | null;
}

export function subjectsOf(fleet: string): Subjects {
  const head = `sp.${validateName("fleet", fleet)}`;
  return {
    work: (place, agent) => `${head}.work.${placeTokens(place)}.${agentToken(agent)}`,
    control: (host, agent, operation) =>
      `${head}.ctl.${host}.${agent === null ? ALL_AGENTS : agentToken(agent)}.${operation}`,
    node: (host, operation) => `${head}.node.${host}.${operation}`,
    result: (gateway, host, process, flow) => `${head}.res.${gateway}.${host}.${process}.${flow}`,
    exit: (host, agent, session) => `${head}.exit.${host}.${agentToken(agent)}.${session}`,
    parseResult: (subject) => (subject.startsWith(`${head}.res.`) ? parseTarget(subject.slice(head.length + 5)) : null),
    parseWork: (subject) => (subject.startsWith(`${head}.work.`) ? parsePlace(subject.slice(head.length + 6)) : null),
  };
}

function parseTarget(text: string): { gateway: string; host: string; process: string; flow: string } | null {
  const [gateway = "", host = "", process = "", flow = "", ...more] = text.split(".");
  return flow === "" || more.length > 0 ? null : { gateway, host, process, flow };
}

export function placeTokens(place: Place): string {
  if (place === "any") return "any";
  if ("host" in place) return `host.${place.host}`;
  return `label.${place.label[0]}.${place.label[1]}`;
}

function parsePlace(text: string): { place: Place; agent: string } | null {
  const tokens = text.split(".");
  const [kind, first = "", second = ""] = tokens;
  const agent = tokens.at(-1) ?? "";
  if (kind === "any" && tokens.length === 2) return { place: "any", agent };
  if (kind === "host" && tokens.length === 3) return { place: { host: first }, agent };
  if (kind === "label" && tokens.length === 4) return { place: { label: [first, second] }, agent };
  return null;
}

/** The names of streams, buckets and object stores. */
export interface StoreNames {
  /** Stream of jobs. A message is removed when a worker acknowledges it. */
  work: string;
  /** Stream of the exits of background sessions. */
  exits: string;
  /** Bucket of registry entries, with keys `<agent>.<session>`. The worker that claims a session creates its entry. */
  sessions: string;
  /** Bucket of heartbeats, with keys `<host>`. */
  workers: string;
  /** Bucket without expiry, with keys `drain.<host>` and `workspace.<name>` (the host that has its files). */
  places: string;
  /** Object store of archived logs. */
  logs: string;
}

export function storeNames(fleet: string): StoreNames {
  const head = `SP_${validateName("fleet", fleet)}`;
  return {
    work: `${head}_WORK`,
    exits: `${head}_EXITS`,
    sessions: `${head}_SESSIONS`,
    workers: `${head}_WORKERS`,
    places: `${head}_PLACES`,
    logs: `${head}_LOGS`,
  };
}

/** Returns the key of a session in the registry. */
export function sessionKey(agent: string, session: string): string {
  return `${agentToken(agent)}.${session}`;
}

/** Returns the name of the consumer from which workers pull the jobs of a place. */
export function consumerName(place: Place): string {
  return placeTokens(place).replaceAll(".", "=");
}

/** Returns the inbox prefix of a member, to which only that member may subscribe. */
export function inboxPrefix(fleet: string, kind: "gateway" | "worker", name: string): string {
  return `_INBOX.${fleet}.${kind}.${name}`;
}
