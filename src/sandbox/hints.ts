/**
 * Hints for commands that the sandbox probably stopped, derived from the end of their stderr. They are not certain,
 * because a file's own permissions cause the same errors. Each hint names the access to request.
 */

import { accessSync, constants, statSync } from "node:fs";
import { resolve } from "node:path";
import { callerEnv } from "../core/caller.ts";
import type { Recovery } from "../core/error.ts";
import { nextStep } from "../core/next-step.ts";
import type { Access } from "../core/step.ts";
import { shownLine } from "../text/visible.ts";
import { credentialPaths } from "./denied-paths.ts";
import { maskedPaths } from "./masked-paths.ts";
import { protectedPathOf } from "./protected/protected-paths.ts";
import type { SandboxSnapshot } from "./snapshot.ts";
import { isWithin, nearestReal } from "./workspace.ts";

/** Operations that the sandbox always denies, by the error messages of programs. */
const BLOCKED_CALLS: readonly [complaint: RegExp, why: string][] = [
  [
    /no new privileges|effective uid is not 0|must be setuid/i,
    "sandboxed commands cannot gain privileges (sudo, su, setuid programs)",
  ],
  [
    /\bunshare\b|\bsetns\b|user namespace|CLONE_NEW|namespaces?\b.*not permitted/i,
    "sandboxed commands cannot create namespaces (unshare, containers)",
  ],
  [
    /\bu?mount\b.*(?:permission denied|not permitted|must be superuser|only root)/i,
    "sandboxed commands cannot mount file systems",
  ],
  [/\bptrace\b|PTRACE_/i, "sandboxed commands can trace only their own processes"],
  [/\bperf_event|\bbpf\b|BPF_/i, "sandboxed commands cannot trace the kernel (perf, bpf)"],
  [/\bio_uring/i, "sandboxed commands cannot use io_uring"],
  [/\bmknod\b/i, "sandboxed commands cannot create device nodes"],
  [/\bkill\b.*(?:not permitted|EPERM)/i, "sandboxed commands can signal only their own processes"],
];

/** Why the sandbox denied something, what to do instead, and the access that would allow it. */
interface Denial {
  why: string;
  instead?: string;
  access?: Access;
}

/** The access for what the sandbox never allows, whichever paths are requested. */
const OFF: Access = { field: "sandbox", profile: "off" };

const REFUSED_CALL =
  /not permitted|permission denied|\bE(?:PERM|ACCES)\b|no new privileges|must be|function not implemented|only root/i;

/** Explains a denied system call. Returns null when the line does not report one. */
function blockedCall(line: string): Denial | null {
  if (!REFUSED_CALL.test(line)) return null;
  const why = BLOCKED_CALLS.find(([complaint]) => complaint.test(line))?.[1];
  return why === undefined ? null : { why, access: OFF };
}

const MAX_HINTS = 3;
const MAX_LINES = 400;
const MAX_TEXT = 64 << 10;
const MAX_LINE = 2000;

/** The wording of the C library, Node, Python, Go and Rust. */
const REFUSED =
  /permission denied|operation not permitted|read-only file system|resource busy|\bE(?:ACCES|PERM|ROFS|BUSY)\b/i;
const MISSING = /no such file or directory|\bENOENT\b|cannot find|not found/i;
const NO_NETWORK =
  /could not resolve|name resolution|name or service not known|network is unreachable|EAI_AGAIN|ENETUNREACH|address family not supported|getaddrinfo|no address associated|(?:failed|couldn't|unable) to connect|couldn't connect|connect(?:ion)?\b.*(?:refused|permission denied|not permitted)/i;

interface HintContext {
  sandbox: SandboxSnapshot;
  cwd: string;
  /** The gateway's home directory. */
  home: string;
}

/** Returns hints for the errors on stderr that the sandbox probably caused, latest first. */
export function sandboxHints(stderr: string, context: HintContext): Recovery[] {
  if (context.sandbox.profile === "off" && context.sandbox.network === "on") return [];
  const found = new Map<string, Recovery>();
  const lines = stderr.slice(-MAX_TEXT).split("\n").slice(-MAX_LINES).reverse();
  for (const line of lines) {
    if (found.size >= MAX_HINTS) break;
    const denial = line.length > MAX_LINE ? null : denialIn(line, context);
    if (denial === null) continue;
    const { why, instead = null, access = null } = denial;
    const recovery = nextStep("request_access", { name: "denied-by-sandbox", why, instead, access });
    // Several files in one folder need the same access, so the first hint is enough.
    const key = access?.field === "writable" ? JSON.stringify(access) : recovery.hint;
    if (!found.has(key)) found.set(key, recovery);
  }
  return [...found.values()];
}

/** The wording of programs that could not connect to a Unix socket. */
const CONNECTING = /connect|socket|\bdial\b|\bdaemon\b|\bagent\b/i;

/** Explains why a socket cannot be reached. Returns null when the line does not name one outside the sandbox. */
function socketHint(line: string, { sandbox, cwd }: HintContext): Denial | null {
  if (sandbox.network !== "on" || !CONNECTING.test(line)) return null;
  const reachable = [
    ...sandbox.writable,
    ...sandbox.sockets,
    ...(sandbox.temporary === null ? [] : [sandbox.temporary]),
  ];
  const path = pathsIn(line, cwd).find((each) => isSocket(each));
  if (path === undefined || reachable.some((one) => isWithin(path, one))) return null;
  return { why: `${shownLine(path)} is a Unix socket outside the workspace`, access: { field: "sockets" } };
}

function isSocket(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
  } catch {
    return false;
  }
}

function denialIn(line: string, context: HintContext): Denial | null {
  const { network, profile } = context.sandbox;
  if (network !== "on" && NO_NETWORK.test(line)) {
    const why = network === "off" ? "the network is off" : "only the listed TCP ports are allowed";
    return { why, access: { field: "network" } };
  }
  if (profile === "off") return null;
  const explained = socketHint(line, context) ?? blockedCall(line);
  if (explained !== null) return explained;
  const refused = REFUSED.test(line);
  if (!refused && !MISSING.test(line)) return null;
  for (const path of pathsIn(line, context.cwd)) {
    const denial = refused ? pathHint(path, line, context) : hiddenHint(path, context);
    if (denial !== null) return denial;
  }
  return null;
}

/**
 * Explains a missing file in a folder that is private to the command. The hint does not depend on whether the file
 * exists on this machine, which the command must not learn.
 */
function hiddenHint(path: string, context: HintContext): Denial | null {
  const { sandbox } = context;
  const masked = maskedPath(path, context);
  if (masked !== null) {
    return {
      why: `${shownLine(masked)} is hidden from every sandboxed command, whether or not it exists`,
      instead: "ask the user to do what requires it",
    };
  }
  const visible = [...sandbox.writable, ...(sandbox.temporary === null ? [] : [sandbox.temporary])];
  if (visible.some((folder) => isWithin(path, folder))) return null;
  const at = sandbox.hidden.find((folder) => isWithin(path, folder) && path !== folder);
  return at === undefined
    ? null
    : {
        why: `${shownLine(at)} is private to sandboxed commands, and files that other programs put there are not visible`,
        instead: "use the workspace",
      };
}

/** A URL of another machine, whose path is not a path of this one. */
const URL_TEXT = /\b(?!unix:|file:)[a-z][a-z\d+.-]*:\/\/\S*/gi;

/** Returns the possible paths in a line: quoted texts, and words that look like a path. Relative ones are resolved. */
function pathsIn(text: string, cwd: string): string[] {
  const line = text.replaceAll(URL_TEXT, " ");
  const quoted = [...line.matchAll(/['"`‘“]([^'"`’”]{1,1024})['"`’”]/g)].map(([, text = ""]) => text);
  const words = line
    .split(/[\s:,;()[\]=]+/)
    .filter((word) => /^(?:\/|\.{1,2}\/|\.[a-z])/i.test(word) || word.includes("/"));
  // The format of shells is `bash: line 1: NAME: Permission denied`.
  const named = /([^:]{1,1024}): [^:]+$/.exec(line)?.[1]?.trim() ?? "";
  return [...quoted.filter((text) => !text.includes("\n")), named, ...words]
    .map((text) => text.replace(/^['"`‘“]+|['"`’”.]+$/g, ""))
    .filter((text) => text !== "" && !text.includes("\0"))
    .map((text) => resolve(cwd, text));
}

/** The configuration of a repository, a worktree or a submodule. */
const GIT_CONFIG = /\/\.git\/(?:.*\/)?config(?:\.worktree)?$/;

/** Returns the denied path that contains a path: credentials, or a path from the configuration. */
function maskedPath(path: string, { sandbox, home }: HintContext): string | null {
  const denied = [
    ...sandbox.denied,
    ...maskedPaths(callerEnv(), [process.getuid?.() ?? 0]),
    ...credentialPaths({ own: [home], others: [] }, []),
  ];
  return denied.find((one) => isWithin(path, one)) ?? null;
}

const READ_ONLY = /read-only file system|\bEROFS\b/i;

function pathHint(path: string, line: string, context: HintContext): Denial | null {
  const { sandbox } = context;
  const shown = shownLine(path);
  // A private directory is writable. A read-only folder in it is one that PATH names, which is shown as it is.
  const hidden = READ_ONLY.test(line) ? [] : sandbox.hidden;
  const roots = [...sandbox.writable, ...(sandbox.temporary === null ? [] : [sandbox.temporary]), ...hidden];
  if (maskedPath(path, context) !== null) {
    return { why: `${shown} is masked for every sandboxed command`, access: OFF };
  }
  const root = roots.find((one) => isWithin(path, one));
  if (root !== undefined) {
    const place = protectedPathOf(path, root);
    if (place === null) return null;
    const at = shownLine(place);
    const instead = GIT_CONFIG.test(place) ? { instead: "set it for one command with `git -c NAME=VALUE`" } : {};
    return { why: `${at} is a protected path`, ...instead, access: { field: "writable", path: at } };
  }
  const { real } = nearestReal(path);
  // If the gateway cannot write to the path either, the sandbox is not the cause.
  if (sandbox.user === null && !isWritable(real)) return null;
  if (sandbox.profile === "read-only") {
    return {
      why: `a read-only command cannot write to ${shown}`,
      access: { field: "sandbox", profile: "workspace-write" },
    };
  }
  return {
    why: `${shown} is outside the workspace`,
    instead: "write to the workspace or /tmp",
    access: real === "/" ? OFF : { field: "writable", path: shownLine(real) },
  };
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
