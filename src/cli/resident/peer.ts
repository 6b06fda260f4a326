/**
 * Identifies the process at the other end of a connection to the resident gateway.
 *
 * Node cannot ask the kernel for the peer of a Unix socket. The client therefore gives its process ID and proves it: it
 * takes a random name that the resident gateway chose as its thread name, which only the process itself can set. Only
 * this user can connect, because the socket has mode 0600.
 *
 * A process is served only if a command line that it ran itself would have the same rights: the same user, groups,
 * capabilities and restrictions, the same namespaces and root directory, and no keeper among its ancestors (invariant 7).
 */
import { readFileSync, readlinkSync } from "node:fs";
import { isKeeper, parentOf } from "../../approval/self-approval.ts";
import { startTimeOf } from "../../executor/processes.ts";

const SAME_STATUS = /^(?:Uid|Gid|Groups|NoNewPrivs|Seccomp|Seccomp_filters|Cap(?:Inh|Prm|Eff|Bnd|Amb)):.*$/gm;
const SAME_LINKS = ["ns/mnt", "ns/pid", "ns/user", "root"];
const MAX_DEPTH = 1000;
const MAX_KNOWN = 1000;

/** Processes by pid and start time without a keeper among their ancestors. They cannot get one later. */
const outside = new Set<string>();

/** The rights of this process, which never changes them. */
let ownRights: string | null = null;

function rightsOf(pid: number | "self"): string {
  const status = readFileSync(`/proc/${pid}/status`, "latin1").match(SAME_STATUS) ?? [];
  return [...status, ...SAME_LINKS.map((name) => readlinkSync(`/proc/${pid}/${name}`))].join("\n");
}

function bearsName(pid: number, name: string): boolean {
  return readFileSync(`/proc/${pid}/comm`, "latin1") === `${name}\n`;
}

/** Reports whether the peer is the process `pid`, which has taken `name`, and has the rights of this process. */
export function isTrustedPeer(pid: number, name: string): boolean {
  try {
    ownRights ??= rightsOf("self");
    if (!bearsName(pid, name) || rightsOf(pid) !== ownRights || isInSession(pid)) return false;
    // Checked again: until here, the process may have exited and another one may have its pid.
    return bearsName(pid, name);
  } catch {
    return false; // the process has exited or is hidden
  }
}

function isInSession(client: number): boolean {
  const chain: string[] = [];
  for (let pid = parentOf(client); pid > 0; pid = parentOf(pid)) {
    const born = `${pid} ${startTimeOf(pid)}`;
    if (outside.has(born)) break;
    if (isKeeper(pid) || chain.length >= MAX_DEPTH) return true;
    chain.push(born);
  }
  if (outside.size > MAX_KNOWN) outside.clear();
  for (const born of chain) outside.add(born);
  return false;
}
