/**
 * Finds the process at the other end of a local TCP connection, to refuse decisions that a command of a session sends
 * over HTTP with a token that it found (invariant 7: a command cannot approve itself).
 *
 * A process can hide its descriptors from a gateway that does not run as root, but not that it descends from a keeper.
 * Therefore the search does not end with the owner of the socket: if no owner is found, the connection is accepted only
 * if a process outside of all sessions may own it.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { SESSION_VARIABLE } from "../executor/processes.ts";
import { isKeeper, parentOf } from "./self-approval.ts";

export type Peer =
  /** A process of a session. */
  | { kind: "session"; pid: number; program: string }
  /** A local process outside of all sessions. */
  | { kind: "person"; pid: number; program: string }
  /** Another machine, or a local process of another user whose descriptors this process cannot read. */
  | { kind: "remote"; address: string }
  /** A local process that cannot be determined. */
  | { kind: "unknown"; why: string };

export interface TcpConnection {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/** The inode number of the initial PID namespace, from which all processes are visible. */
const INITIAL_PID_NAMESPACE = "pid:[4026531836]";
/** Processes of PAM that hold no connections, although their descriptors cannot be read. */
const NEVER_CLIENTS = new Set(["(sd-pam)"]);

/** Returns the process at the other end of a connection. */
export function peerOf(connection: TcpConnection): Peer {
  const address = plainAddress(connection.remoteAddress ?? "");
  if (process.platform !== "linux" || !isLocal(address)) return { kind: "remote", address };
  try {
    const socket = socketOf(connection);
    if (socket === null) return { kind: "unknown", why: "its connection is already closed" };
    return ownerOf(socket, address);
  } catch (error) {
    return { kind: "unknown", why: (error as Error).message };
  }
}

function isLocal(address: string): boolean {
  if (/^127\./.test(address) || address === "::1") return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address));
}

/** Removes the prefix of an IPv4 address in IPv6 notation, and the zone. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
}

interface Socket {
  inode: string;
  uid: number;
}

/** Returns the peer's socket: the one whose local address is our remote address, and the other way around. */
function socketOf({ remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 }: TcpConnection) {
  const wanted = `${plainAddress(remoteAddress)} ${remotePort} ${plainAddress(localAddress)} ${localPort}`;
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of textOf(file).split("\n").slice(1)) {
      const [, local = "", remote = "", , , , , uid = "", , inode = ""] = line.trim().split(/\s+/);
      if (`${endpoint(local)} ${endpoint(remote)}` !== wanted) continue;
      // A socket without an inode belongs to no process any more.
      return inode === "0" || inode === "" ? null : ({ inode, uid: Number(uid) } satisfies Socket);
    }
  }
  return null;
}

/** Converts an address of /proc/net/tcp, such as `0100007F:1F90`, to `127.0.0.1 8080`. */
function endpoint(text: string): string {
  const [hex = "", port = "0"] = text.split(":");
  // Each group of four bytes is in host order, which is little-endian on all supported machines.
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  return `${addressText(bytes.map((byte) => Number.parseInt(byte, 16)))} ${Number.parseInt(port, 16)}`;
}

function addressText(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) return bytes.slice(12).join(".");
  // The URL parser writes an IPv6 address in its canonical form, as Node does.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]/`).hostname.slice(1, -1);
}

function ownerOf({ inode, uid }: Socket, address: string): Peer {
  const sessions: number[] = [];
  const others: number[] = [];
  const known = new Map<number, boolean>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (Number.isInteger(pid)) (inSession(pid, known) ? sessions : others).push(pid);
  }
  const hidden = (pids: readonly number[]) => pids.filter((pid) => uidOf(pid) === uid && holds(pid, inode) === null);
  const inOne = sessions.find((pid) => threadsOf(pid).some((task) => holds(task, inode)));
  if (inOne !== undefined) return { kind: "session", pid: inOne, program: nameOf(inOne) };
  const person = others.find((pid) => holds(pid, inode));
  if (person !== undefined) return { kind: "person", pid: person, program: nameOf(person) };
  if (hidden(sessions).length > 0) return { kind: "unknown", why: "a process of a session hides its connections" };
  const own = process.getuid?.() ?? 0;
  const seesAll = own === 0 && linkOf("/proc/self/ns/pid") === INITIAL_PID_NAMESPACE;
  const mayBeOther = own === 0 || own !== uid || hidden(others).some((pid) => !NEVER_CLIENTS.has(nameOf(pid)));
  // A descriptor that was sent through a Unix socket and not received yet belongs to no process.
  const inFlight = !seesAll && sessions.some((pid) => (own === 0 || uidOf(pid) === uid) && hasUnixSocket(pid));
  if (inFlight) return { kind: "unknown", why: "a process of a session may hide its connection" };
  if (!seesAll && mayBeOther) return { kind: "remote", address };
  return { kind: "unknown", why: "no process owns its connection" };
}

/** Reports whether a process is a descendant of a keeper, or of a command of the portable executor. */
function inSession(pid: number, known: Map<number, boolean>): boolean {
  const chain: number[] = [];
  let found = false;
  for (let at = pid; at > 0 && !chain.includes(at); ) {
    const answer = known.get(at);
    if (answer !== undefined) {
      found = answer;
      break;
    }
    chain.push(at);
    // A process that exits in the meantime cannot own the connection any more.
    const parent = attempt(() => parentOf(at)) ?? 0;
    const keeper = attempt(() => isKeeper(parent)) ?? false;
    if (keeper || hasSessionVariable(at)) {
      found = true;
      break;
    }
    at = parent;
  }
  for (const each of chain) known.set(each, found);
  return found;
}

function hasSessionVariable(pid: number): boolean {
  const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, "latin1")) ?? "";
  return `\0${environment}`.includes(`\0${SESSION_VARIABLE}=`);
}

/** Returns the threads of a process, each of which can have a table of descriptors of its own. */
function threadsOf(pid: number): number[] {
  return (attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []).map(Number);
}

/** Reports whether a process or thread has the socket open. Null when its descriptors cannot be read. */
function holds(pid: number, inode: string): boolean | null {
  const folder = `/proc/${pid}/fd`;
  try {
    const link = `socket:[${inode}]`;
    return readdirSync(folder).some((name) => linkOf(`${folder}/${name}`) === link);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EACCES" ? null : false;
  }
}

/** Reports whether a process has a Unix socket, or may have one because its descriptors cannot be read. */
function hasUnixSocket(pid: number): boolean {
  const inodes = new Set(
    textOf("/proc/net/unix")
      .split("\n")
      .map((line) => `socket:[${line.trim().split(/\s+/)[6]}]`),
  );
  return threadsOf(pid).some((task) => {
    const folder = `/proc/${task}/fd`;
    const names = attempt(() => readdirSync(folder));
    return names === null ? isAlive(task) : names.some((name) => inodes.has(linkOf(`${folder}/${name}`) ?? ""));
  });
}

function isAlive(pid: number): boolean {
  return attempt(() => statSync(`/proc/${pid}`)) !== null;
}

/** Returns the real user ID of a process. The owner of the files in /proc is root for a process that hides. */
function uidOf(pid: number): number {
  const status = attempt(() => textOf(`/proc/${pid}/status`)) ?? "";
  return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? attempt(() => statSync(`/proc/${pid}`).uid) ?? -1);
}

function nameOf(pid: number): string {
  return (attempt(() => textOf(`/proc/${pid}/comm`)) ?? "a process").trim();
}

function linkOf(path: string): string | null {
  return attempt(() => readlinkSync(path));
}

function textOf(path: string): string {
  return readFileSync(path, "latin1");
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
