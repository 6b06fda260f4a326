/**
 * Every subject, stream and bucket of a fleet, in one place: who may do what is said in terms of these (permissions.ts).
 *
 * Whoever is meant or speaks is a part of the subject, so that the server itself keeps a worker from speaking as another
 * host and an agent's gateway from asking as another agent. What a message says of its sender is checked against it.
 */
import { SallyportError } from "../core/error.ts";
import { badFleetName } from "./errors.ts";

const NAME = /^[A-Za-z0-9_-]{1,63}$/;

/** Of a fleet, a host, a gateway or a label: one token of a subject as it stands. Throws InvalidRequest. */
export function validateName(what: string, name: string): string {
  if (!NAME.test(name)) throw new SallyportError("InvalidRequest", ...badFleetName(what, name));
  return name;
}

/** Makes a name of what may not be one, such as `web.example.com`. */
export function sanitizeName(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 63) || "unnamed";
}

/** Agents have freer names; what a subject or a key cannot hold becomes `=` and two digits, so that no two are alike. */
export function agentToken(agent: string): string {
  const bytes = [...Buffer.from(agent)];
  return bytes
    .map((byte) => (/[A-Za-z0-9_-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte)))
    .join("");
}

/** The agent of a token; null: no agent has it. */
export function agentFromToken(token: string): string | null {
  const bytes = token.replace(/=([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
  const agent = Buffer.from(bytes, "latin1").toString();
  return agent !== "" && agentToken(agent) === token ? agent : null;
}

/** Stands where an agent would, and is none's: only a gateway that may ask for every agent may ask for this. */
export const ALL_AGENTS = "=";

function hex(byte: number): string {
  return `=${byte.toString(16).padStart(2, "0").toUpperCase()}`;
}

/** Where a request may run: anywhere, on one host, or on any with this label. */
export type Place = "any" | { host: string } | { label: [name: string, value: string] };

export interface Subjects {
  /** One message, one session to be started. The agent is the one that asks. */
  work(place: Place, agent: string): string;
  /** To the worker that has a session; it answers. Null: about every agent's. */
  control(host: string, agent: string | null, operation: string): string;
  /** From an operator to a worker: drain, return. */
  node(host: string, operation: string): string;
  /** From a worker to the process of the gateway that asked: `news` of sessions, or a log that it reads, by its name. */
  result(gateway: string, host: string, process: string, flow: string): string;
  /** That a session has ended. */
  exit(host: string, agent: string, session: string): string;
  /** What a result's subject says. Null: it is none. */
  parseResult(subject: string): { gateway: string; host: string; process: string; flow: string } | null;
  /** What a work message's subject says. Null: it is none. */
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

/** The names of what is kept on the servers. */
export interface StoreNames {
  /** Work to be taken; a message is gone when a worker has it safe. */
  work: string;
  /** Ends of sessions. */
  exits: string;
  /** Bucket: `<agent>.<session>`, created once by whoever starts it. */
  sessions: string;
  /** Bucket: `<host>`, renewed as long as it lives. */
  workers: string;
  /** Bucket of what stays: `drain.<host>`, `workspace.<name>` (the host that has its files). */
  places: string;
  /** Objects: logs that outlive their host. */
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

/** The consumer through which workers take work for this place. */
export function consumerName(place: Place): string {
  return placeTokens(place).replaceAll(".", "=");
}

/** Where answers come to: each member has a place of its own, which the others may not listen at. */
export function inboxPrefix(fleet: string, kind: "gateway" | "worker", name: string): string {
  return `_INBOX.${fleet}.${kind}.${name}`;
}
