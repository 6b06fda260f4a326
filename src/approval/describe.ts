/** Turns a planned command into the request that is shown to the approver. */
import { realpathSync } from "node:fs";
import type { ApprovalRequest, CoveredFile, Grantable, Quorum, ShownCommand, ShownText } from "../core/approval.ts";
import type { CommandFact } from "../core/facts.ts";
import type { Verdict } from "../core/policy.ts";
import { quoteArgv } from "../shell/quote.ts";
import { maskEnv } from "../text/secrets.ts";
import { shownLine, shownText } from "../text/visible.ts";
import type { Binding } from "./binding.ts";
import { grantable, isGrantedBy } from "./grantable.ts";

/** The input for a new approval request. */
export interface NewApproval {
  agent: string;
  /** The result of `bindingOf` for the same facts as the verdict. */
  binding: Binding;
  verdict: Verdict;
  cwd: string;
  workspace: string;
  /** Environment variables added by the request. */
  env?: Readonly<Record<string, string>>;
  stdin?: string | null;
  /** The sandbox as text, such as `workspace-write, network on`. */
  confinement: string;
  intent?: string | null;
  /** True for input to a running program, which may have changed the meaning of a command. It can only be approved once. */
  input?: true;
  /** Default: the quorum that the `Approvals` were created with. */
  quorum?: Quorum;
  expiresMs?: number;
}

/**
 * Returns the request as shown to the approver. `changed` lists differences from an earlier approval of the command.
 */
export function describe(asked: NewApproval, changed: readonly string[]): ApprovalRequest {
  const { verdict } = asked;
  const command = shownText(verdict.command);
  return {
    agent: shownLine(asked.agent),
    command: plain(command),
    commands: verdict.commands.filter(({ argv }) => argv.length > 0).map(shownCommand),
    analyzable: verdict.analyzable,
    cwd: shownLine(asked.cwd),
    environment: Object.entries(maskEnv(asked.env ?? {})).map(([name, value]) => ({
      name: shownLine(name),
      value: shownLine(value),
    })),
    stdin: asked.stdin ? plain(shownText(asked.stdin)) : null,
    confinement: shownLine(asked.confinement),
    reasons: verdict.reasons.map(({ rule, message, span }) => ({
      rule: shownLine(rule),
      message: shownLine(message),
      span: span ? command.locate(span) : null,
    })),
    intent: asked.intent ? plain(shownText(asked.intent)) : null,
    covers: covered(asked.binding),
    unbound: (asked.binding.unbound ?? []).map(shownLine),
    changed: changed.map(shownLine),
    always: always(asked),
  };
}

function plain({ text, marks }: ShownText): ShownText {
  return { text, marks };
}

function shownCommand(fact: CommandFact): ShownCommand {
  const { resolved, kind } = fact.executable;
  const elsewhere = {
    builtin: "shell builtin",
    function: "shell function",
    "not-found": "not found",
    keyword: "shell keyword",
  };
  const program = kind === "external" ? resolved : kind === "unknown" ? null : elsewhere[kind];
  return {
    text: shownLine(fact.argv.map(({ value, source }) => (value === null ? source : quoteArgv([value]))).join(" ")),
    program: program === null ? "program not known in advance" : shownLine(program),
    cwd: fact.cwd === null ? null : shownLine(fact.cwd),
    via: fact.via.map(shownLine),
    notes: notesOn(fact).map(shownLine),
  };
}

function notesOn(fact: CommandFact): string[] {
  return [
    ...(fact.remote ? ["runs on another machine or in a container"] : []),
    ...(fact.opaque === null ? [] : [`runs code that is not analyzed: ${fact.opaque}`]),
    ...(fact.background ? ["runs in the background"] : []),
    ...fact.assignments.map(({ name }) => `sets ${name}`),
    ...fact.deletes.map((path) => `deletes ${path}`),
    ...fact.writes.map((path) => `writes ${path}`),
    ...fact.network.map((host) => `connects to ${host}`),
    ...unknownsOf(fact),
  ];
}

/** Returns the distinct unknowns, except those that another one already gives as its reason. */
function unknownsOf({ unknowns }: CommandFact): string[] {
  const all = [...new Set(unknowns.map(({ why }) => why))];
  return all.filter((why) => !all.some((other) => other.endsWith(`: ${why}`)));
}

function covered({ files }: Binding): CoveredFile[] {
  const found = new Map<string, CoveredFile>();
  for (const { path, role, identity } of files) {
    if (path === null || identity === null || found.has(path)) continue;
    found.set(path, { path: shownLine(path), role, sha256: identity.sha256 });
  }
  return [...found.values()];
}

/**
 * Returns whether a standing grant can be offered. Symbolic links in the working directory are resolved now, so that a
 * link that is changed later is not covered.
 */
function always({ verdict, workspace, env, stdin, input }: NewApproval): Grantable {
  if (input) return { ok: false, why: "it is input to a running program" };
  if (verdict.reasons.some(({ rule }) => rule.startsWith("sandbox-"))) {
    return { ok: false, why: "it requests more access than the configured sandbox allows" };
  }
  const found = grantable(verdict, { workspace, addedEnv: Object.keys(env ?? {}), stdin: Boolean(stdin) });
  if (!found.ok) return { ok: false, why: shownLine(found.why) };
  if (!isGrantedBy(verdict)) return { ok: false, why: "a rule or mode requires approval for each run" };
  try {
    return { ok: true, commands: found.commands.map((each) => ({ ...each, cwd: realpathSync.native(each.cwd) })) };
  } catch {
    return { ok: false, why: "its working directory does not exist" };
  }
}
