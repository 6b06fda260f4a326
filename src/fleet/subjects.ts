/**
 * The names of all subjects, streams and buckets of a fleet. Permissions are expressed in terms of these (permissions.ts).
 *
 * Sender and receiver are part of the subject, so that the servers keep a worker from publishing as another host and an
 * agent's gateway from asking as another agent. The sender in a message is checked against its subject.
 */
import { SallyportError } from "../core/error.ts";
import { badFleetName } from "./errors.ts";

const NAME = /^[A-Za-z0-9_-]{1,63}$/;

/** Returns the name of a fleet, host, gateway or label if it is a valid subject token; throws InvalidRequest otherwise. */
export function validateName(what: string, name: string): string {
  if (!NAME.test(name)) throw new SallyportError("InvalidRequest", ...badFleetName(what, name));
  return name;
}

/** Turns any text, such as `web.example.com`, into a valid name. */
export function sanitizeName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 63) || "unnamed";
}

/** Encodes an agent's name as a subject token: other characters become `=` and two hexadecimal digits. */
export function agentToken(agent: string): string {
  const bytes = [...Buffer.from(agent)];
  return bytes
    .map((byte) => (/[A-Za-z0-9_-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte)))
    .join("");
}

/** Decodes a token; null when it is not the token of an agent. */
export function agentFromToken(token: string): string | null {
  const bytes = token.replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  const agent = Buffer.from(bytes, "latin1").toString();
  return agent !== "" && agentToken(agent) === token ? agent : null;
}

/** The token for all agents. Only gateways that may ask for every agent are permitted to use it. */
export const ALL_AGENTS = "=";

function hex(byte: number): string {
  return `=${byte.toString(16).padStart(2, "0").toUpperCase()}`;
}

/** Where a request may run: anywhere, on one host, or on any with this label. */
export type Place = "any" | { host: string } | { label: [name: string, value: string] };

export interface Subjects {
  /** A job. The agent is the one that requests it. */
  work(place: Place, agent: string): string;
  /** A request to the worker that has a session. Null: sessions of all agents. */
  control(host: string, agent: string | null, operation: string): string;
  /** A command of an operator to a worker: drain, return. */
  node(host: string, operation: string): string;
  /** From a worker to a gateway process: session events (`news`), or a response stream by its name. */
  result(gateway: string, host: string, process: string, flow: string): string;
  /** The end of a session. */
  exit(host: string, agent: string, session: string): string;
  /** Parses a result subject; null when it is not one. */
  parseResult(subject: string): { gateway: string; host: string; process: string; flow: string } | null;
  /** Parses a job subject; null when it is not one. */
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
  /** Stream of jobs; a message is removed when a worker acknowledges it. */
  work: string;
  /** Stream of the ends of sessions. */
  exits: string;
  /** Bucket: `<agent>.<session>`, created by the worker that claims it. */
  sessions: string;
  /** Bucket of heartbeats: `<host>`. */
  workers: string;
  /** Bucket without expiry: `drain.<host>`, `workspace.<name>` (the host that has its files). */
  places: string;
  /** Object store: archived logs. */
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

/** The key of a session in its bucket. */
export function sessionKey(agent: string, session: string): string {
  return `${agentToken(agent)}.${session}`;
}

/** The consumer from which workers pull the jobs of this place. */
export function consumerName(place: Place): string {
  return placeTokens(place).replaceAll(".", "=");
}

/** The inbox of a member, to which only that member may subscribe. */
export function inboxPrefix(fleet: string, kind: "gateway" | "worker", name: string): string {
  return `_INBOX.${fleet}.${kind}.${name}`;
}
