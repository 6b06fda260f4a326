/**
 * Whether the sandbox was what stopped a command, from what it said last. Nobody can know for certain: the same words
 * come from a file's own permissions, so each hint calls itself likely and tells what to ask for.
 */
import { accessSync, constants } from "node:fs";
import { join, resolve } from "node:path";
import { shownLine } from "../text/visible.ts";
import { DENIED_IN_HOME, maskedPaths } from "./masked-paths.ts";
import { protectedPathOf } from "./protected-paths.ts";
import type { SandboxSnapshot } from "./snapshot.ts";
import { isWithin, nearestReal } from "./workspace.ts";

/** What no confined command may do, by how programs complain about it. */
const BLOCKED_CALLS: readonly [complaint: RegExp, why: string][] = [
  [
    /no new privileges|effective uid is not 0|must be setuid/i,
    "no confined command gains privileges (sudo, su, setuid programs)",
  ],
  [
    /\bunshare\b|\bsetns\b|user namespace|CLONE_NEW|namespaces?\b.*not permitted/i,
    "no confined command makes namespaces (unshare, containers)",
  ],
  [
    /\bu?mount\b.*(?:permission denied|not permitted|must be superuser|only root)/i,
    "no confined command mounts anything",
  ],
  [/\bptrace\b|PTRACE_/i, "a confined command traces only its own processes"],
  [/\bperf_event|\bbpf\b|BPF_/i, "tracing the kernel is refused (perf, bpf)"],
  [/\bio_uring/i, "io_uring is refused"],
  [/\bmknod\b/i, "no confined command makes devices"],
  [/\bkill\b.*(?:not permitted|EPERM)/i, "a confined command signals only its own processes"],
];

const REFUSED_CALL =
  /not permitted|permission denied|\bE(?:PERM|ACCES)\b|no new privileges|must be|function not implemented|only root/i;

/** Null: nothing points to a refused system call. */
function blockedCall(line: string): string | null {
  if (!REFUSED_CALL.test(line)) return null;
  const why = BLOCKED_CALLS.find(([complaint]) => complaint.test(line))?.[1];
  return why === undefined ? null : `${why}; only \`sandbox: "off"\` lifts that, with a person's approval`;
}

const MAX_HINTS = 3;
const MAX_LINES = 400;
const MAX_TEXT = 64 << 10;
const MAX_LINE = 2000;

/** As the C library, Node, Python, Go and Rust write it. */
const REFUSED =
  /permission denied|operation not permitted|read-only file system|resource busy|\bE(?:ACCES|PERM|ROFS|BUSY)\b/i;
const NO_NETWORK =
  /could not resolve|name resolution|name or service not known|network is unreachable|EAI_AGAIN|ENETUNREACH|address family not supported|getaddrinfo|no address associated|(?:failed|couldn't|unable) to connect|couldn't connect|connect(?:ion)?\b.*(?:refused|permission denied|not permitted)/i;

interface HintContext {
  sandbox: SandboxSnapshot;
  cwd: string;
  /** Of the gateway. */
  home: string;
}

/** What probably was the matter, the last first; empty: nothing points to the sandbox. */
export function sandboxHints(stderr: string, context: HintContext): string[] {
  if (context.sandbox.profile === "off" && context.sandbox.network === "on") return [];
  const found = new Set<string>();
  const lines = stderr.slice(-MAX_TEXT).split("\n").slice(-MAX_LINES).reverse();
  for (const line of lines) {
    if (found.size >= MAX_HINTS) break;
    const hint = line.length > MAX_LINE ? null : hintForLine(line, context);
    if (hint !== null) found.add(`sandbox, likely cause: ${hint}`);
  }
  return [...found];
}

function hintForLine(line: string, context: HintContext): string | null {
  const { network, profile } = context.sandbox;
  if (network !== "on" && NO_NETWORK.test(line)) {
    const reach = network === "off" ? "this command has no network" : "this command reaches only the listed TCP ports";
    return `${reach}; ask for \`network: "on"\``;
  }
  if (profile === "off") return null;
  const call = blockedCall(line);
  if (call !== null) return call;
  if (REFUSED.test(line)) {
    for (const path of pathsIn(line, context.cwd)) {
      const hint = pathHint(path, context);
      if (hint !== null) return hint;
    }
  }
  return null;
}

/** Quoted texts, and words that look like a path; relative ones from where the command started. */
function pathsIn(line: string, cwd: string): string[] {
  const quoted = [...line.matchAll(/['"`‘“]([^'"`’”]{1,1024})['"`’”]/g)].map(([, text = ""]) => text);
  const words = line
    .split(/[\s:,;()[\]=]+/)
    .filter((word) => /^(?:\/|\.{1,2}\/|\.[a-z])/i.test(word) || word.includes("/"));
  // As shells write it: `bash: line 1: NAME: Permission denied`.
  const named = /([^:]{1,1024}): [^:]+$/.exec(line)?.[1]?.trim() ?? "";
  return [named, ...quoted.filter((text) => !text.includes("\n")), ...words]
    .map((text) => text.replace(/^['"`‘“]+|['"`’”.]+$/g, ""))
    .filter((text) => text !== "" && !text.includes("\0"))
    .map((text) => resolve(cwd, text));
}

function pathHint(path: string, { sandbox, home }: HintContext): string | null {
  const shown = shownLine(path);
  const roots = [...sandbox.writable, ...(sandbox.temporary === null ? [] : [sandbox.temporary])];
  const denied = [...sandbox.denied, ...maskedPaths(process.env), ...DENIED_IN_HOME.map((name) => join(home, name))];
  if (denied.some((one) => isWithin(path, one))) {
    return `${shown} is masked for every sandboxed command; to access it, request \`sandbox: "off"\`, which requires approval`;
  }
  const root = roots.find((one) => isWithin(path, one));
  if (root !== undefined) {
    const protectedPath = protectedPathOf(path, root);
    return protectedPath === null
      ? null
      : `${shownLine(protectedPath)} stays read-only, since it runs later in a person's hands; ask for \`writable: ["${shownLine(protectedPath)}"]\``;
  }
  const { real } = nearestReal(path);
  // What we may not write either is not the sandbox's doing.
  if (sandbox.user === null && !isWritable(real)) return null;
  if (sandbox.profile === "read-only") {
    return `a read-only command cannot write to ${shown}; ask for \`sandbox: "workspace-write"\``;
  }
  const ask = real === "/" ? `\`sandbox: "off"\`` : `\`writable: ["${shownLine(real)}"]\``;
  return `writing to ${shown}, outside the workspace; use the workspace or $TMPDIR, or ask for ${ask}`;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
