/** Facts about one command, filled in as it is looked at. */
import type { CommandFact, Span } from "../../core/facts.ts";
import { plain } from "../expand/field.ts";
import type { Call } from "./call.ts";
import { addTarget } from "./call.ts";
import type { Redirects } from "./redirect.ts";
import { NOTHING } from "./state.ts";
import { type Origin, spend, type Walk } from "./walk.ts";

export function blankFact(walk: Walk, origin: Origin, span: Span): CommandFact {
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

/** Files the redirects write, as targets; and their content, for when this text runs them later. */
export function addRedirects(call: Call, found: Redirects): void {
  call.fact.redirects = found.facts;
  for (const { field, path } of found.targets) {
    addTarget(call, { effect: "write", path, glob: field.glob, recursive: false, span: field.span });
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

/** A compound command, an assignment or a bare redirect: no program, but redirects and assignments count. */
export function emitKeyword(
  walk: Walk,
  origin: Origin,
  found: Redirects,
  span: Span,
  assignments: Call["assignments"] = [],
): void {
  if (!spend(walk, span, assignments.length)) return;
  const fact = blankFact(walk, origin, span);
  fact.assignments = assignments.map(({ name, value }) => ({ name, value: plain(value) }));
  const { stdin, cwd } = walk.state;
  addRedirects(
    { walk, origin, argv: [], name: "", assignments, stdin, output: NOTHING, cwd, fact, external: false },
    found,
  );
  for (const { path } of found.targets)
    walk.state.written.set(path, { kind: "unknown", why: "a file this text wrote" });
  finishFact(fact);
  walk.commands.push(fact);
}
