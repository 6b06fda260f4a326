/** A command as the models of wrappers, interpreters and file commands see it. */
import type { CommandFact, Span, Target, Unknown } from "../../core/facts.ts";
import type { Field } from "../expand/field.ts";
import { wordOf } from "../expand/field.ts";
import { isInside, normalize } from "../path.ts";
import { physicalPath, realPathOf } from "./made-files.ts";
import type { Redirects } from "./redirect.ts";
import type { Origin, State, StreamContent } from "./state.ts";
import { NO_CONTENT } from "./state.ts";
import type { Walk } from "./walk.ts";
import { isolated, markUnknown, pushSteps, spend } from "./walk.ts";

export interface Assigned {
  name: string;
  value: Field;
}

export interface Call {
  walk: Walk;
  origin: Origin;
  argv: Field[];
  /** Last path component of the command name. */
  name: string;
  assignments: Assigned[];
  stdin: StreamContent;
  /** Content of the other descriptors that the command can read. */
  descriptors: State["descriptors"];
  /** What the command itself prints. Models set it for commands whose output may become code. */
  output: StreamContent;
  /** Directory that relative paths of this command start from. */
  cwd: string | null;
  fact: CommandFact;
  /** The command is started by a program and not by the shell, so builtins and functions do not apply. */
  external: boolean;
}

export interface InnerOptions {
  /** Name of this call in `via` (default: the command name). */
  label?: string;
  assignments?: Assigned[];
  cwd?: string | null;
  remote?: boolean;
  /** The inner command comes from the standard input of the whole command. */
  input?: boolean | undefined;
  stdin?: StreamContent;
  /** The inner command runs in the current shell, as with `command`, `builtin` and `exec`. */
  inShell?: boolean;
}

export interface TextOptions extends InnerOptions {
  positional?: Field[] | null;
  zero?: Field | null;
  sameShell?: boolean;
  /** The shell reads the text from standard input. */
  readsCommands?: boolean;
}

/** Functions that analyze inner commands. They are passed as an argument, so that models need not import run.ts. */
export interface Runner {
  argv(call: Call, argv: Field[], options?: InnerOptions): void;
  text(call: Call, code: Field, options?: TextOptions): void;
}

export function innerOrigin(call: Call, options: InnerOptions): Origin {
  return {
    ...call.origin,
    span: call.fact.span,
    via: [...call.origin.via, options.label ?? call.name],
    remote: call.origin.remote || options.remote === true,
    input: call.origin.input || options.input === true,
    reentry: call.origin.reentry + 1,
  };
}

type UnknownFlags = Pick<Unknown, "piped" | "over" | "input">;

/** Marks the command, and thereby the whole text, as not fully known. */
export function markCommandUnknown(call: Call, at: Span, why: string, flags: UnknownFlags = {}): void {
  const { input } = call.walk;
  // A span in the command is not a position in the text of its standard input.
  const span = flags.input && input.text !== null && !call.origin.input ? { start: 0, end: input.text.length } : at;
  const unknown: Unknown = { span, why, ...flags };
  call.fact.unknowns.push(unknown);
  markUnknown(call.walk, unknown);
}

/** Runs a step with the working directory and input of a child process. */
export function inChild(call: Call, options: InnerOptions, step: () => void): void {
  const run = () => {
    const { state } = call.walk;
    if (options.cwd !== undefined) state.cwd = options.cwd;
    if (options.remote) state.cwd = null;
    state.stdin = options.stdin ?? call.stdin;
    pushSteps(call.walk, step);
  };
  if (options.inShell) pushSteps(call.walk, step);
  else isolated(call.walk, run);
}

const AFFECTED: Record<Target["effect"], string> = {
  delete: "the path to delete",
  write: "the path to write",
  mode: "the path whose permissions change",
};

export function recordTarget(call: Call, effect: Target["effect"], field: Field, recursive: boolean, below = ""): void {
  if (field.shape === null) {
    if (!field.many || effect !== "mode")
      markCommandUnknown(call, field.span, `${AFFECTED[effect]} is known only at run time`);
    return;
  }
  if (field.uncertain && field.value !== null) markCommandUnknown(call, field.span, field.uncertain.why);
  const path = normalize(field.shape + below, call.cwd);
  if (path === null) {
    if (field.shape !== "")
      markCommandUnknown(call, field.span, `${AFFECTED[effect]} is relative to a working directory that is not known`);
    return;
  }
  if (!field.shape.startsWith("/") && call.cwd === call.walk.state.cwd) checkFailedCd(call, field, effect);
  addTarget(call, { effect, path, glob: field.glob, recursive, span: field.span }, field.shape + below);
}

/** Checks whether a failed `cd` would change the meaning of a relative path, as in `cd /; cd gone; rm -rf *`. */
function checkFailedCd(call: Call, field: Field, effect: Target["effect"]): void {
  const { workspace } = call.walk.context;
  const bad = call.walk.state.fallbacks.find((folder) => !isInside(folder, workspace) && !folder.startsWith("/tmp"));
  if (bad !== undefined)
    markCommandUnknown(call, field.span, `${AFFECTED[effect]} would be in \`${bad}\` if an earlier \`cd\` failed`);
}

/** Records a target, and the path it resolves to if a symbolic link is involved (`/` for a link to `/`). */
function addTarget(call: Call, found: Target, written: string): void {
  call.fact.targets.push(found);
  if (call.origin.remote) return;
  const { workspace, home } = call.walk.context;
  // Deleting or replacing `link` affects the link; `link/` is the folder that it points to.
  const replaces = found.effect === "delete" || /^g?(?:ln|mv)$/.test(call.name);
  const follows = !replaces || /\/\.?$/.test(written);
  const physical = physicalPath(call.walk, written.startsWith("/") ? written : `${call.cwd ?? ""}/${written}`, follows);
  const real = follows ? (realPathOf(call.walk, physical) ?? physical) : inRealFolder(call.walk, physical);
  if (real === found.path) return;
  // The workspace or home directory may itself be a link. Paths inside it are recorded under its name, not its target.
  for (const folder of [workspace, home]) {
    const base = realPathOf(call.walk, folder) ?? folder;
    if (!isInside(real, base) || base === "/") continue;
    const path = folder + real.slice(base.length);
    if (path !== found.path) call.fact.targets.push({ ...found, path });
    return;
  }
  call.fact.targets.push({ ...found, path: real });
}

/** Resolves the links in the folder of a path, but not the path itself. */
function inRealFolder(walk: Walk, path: string): string {
  const at = path.lastIndexOf("/");
  const folder = at > 0 ? (realPathOf(walk, path.slice(0, at)) ?? path.slice(0, at)) : "";
  return `${folder === "/" ? "" : folder}${path.slice(at)}`;
}

export function emptyFact(walk: Walk, origin: Origin, span: Span): CommandFact {
  return {
    argv: [],
    executable: { written: null, name: null, resolved: null, kind: "keyword" },
    via: [...origin.via],
    redirects: [],
    assignments: [],
    cwd: walk.state.cwd,
    background: origin.background,
    piped: origin.piped,
    wrapper: false,
    remote: origin.remote,
    opaque: null,
    unknowns: [],
    targets: [],
    network: [],
    deletes: [],
    writes: [],
    span,
  };
}

/** Records the redirections, the files they write, and network connections through `/dev/tcp` and `/dev/udp`. */
export function addRedirects(call: Call, found: Redirects): void {
  call.fact.redirects = found.facts;
  for (const { field, path } of found.targets) {
    addTarget(
      call,
      { effect: "write", path, glob: field.glob, recursive: false, span: field.span },
      field.shape ?? path,
    );
  }
  for (const redirect of found.facts) {
    const host = /^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(redirect.path ?? redirect.target?.value ?? "");
    if (host?.[1]) call.fact.network.push(host[1]);
  }
}

export function finishFact(fact: CommandFact): void {
  for (const { effect, path } of fact.targets) {
    const list = effect === "delete" ? fact.deletes : effect === "write" ? fact.writes : null;
    if (list && !list.includes(path)) list.push(path);
  }
}

/**
 * Records a compound command, an assignment or a bare redirection. It runs no program, but its redirections and
 * assignments count.
 */
export function emitKeyword(
  walk: Walk,
  origin: Origin,
  found: Redirects,
  span: Span,
  assignments: Call["assignments"] = [],
): void {
  if (!spend(walk, span, assignments.length)) return;
  const fact = emptyFact(walk, origin, span);
  fact.assignments = assignments.map(({ name, value }) => ({ name, value: wordOf(value) }));
  const { stdin, descriptors, cwd } = walk.state;
  addRedirects(
    {
      walk,
      origin,
      argv: [],
      name: "",
      assignments,
      stdin,
      descriptors,
      output: NO_CONTENT,
      cwd,
      fact,
      external: false,
    },
    found,
  );
  for (const { path } of found.targets)
    walk.state.written.set(path, { kind: "unknown", why: "a file that is written by the same command line" });
  finishFact(fact);
  walk.commands.push(fact);
}
