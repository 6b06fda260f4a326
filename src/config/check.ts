import { loadPolicy } from "../policy/load.ts";
import { RULES } from "../policy/rules/index.ts";
import { nearest } from "../text/nearest.ts";
import { badConfiguration, keyPath } from "./errors.ts";
import type { ConfigText } from "./read.ts";
import type { AgentConfig, ConfigFile } from "./schema.ts";

/** An agent that may approve itself has no need of anybody else (promise 7). */
const NEVER_LIFTED = "self-approval";
const LIFTABLE = RULES.filter(({ tier, id }) => tier === "deny" && id !== NEVER_LIFTED).map(({ id }) => id);

/** What the shape of a file cannot say: rules that pass their own examples, names that exist, a quorum that can be met. */
export function checkMeaning(text: ConfigText, file: ConfigFile, kind: "operator" | "workspace"): void {
  checkPart(text, file, []);
  for (const [agent, own] of Object.entries(file.agents ?? {})) checkPart(text, own, ["agents", agent]);
  const { rule = "any", approvers = [] } = file.approvals?.quorum ?? {};
  if (kind === "operator" && rule !== "any" && approvers.length === 0) {
    failMeaning(
      text,
      ["approvals", "quorum", "rule"],
      `is "${rule}", so \`approvals.quorum.approvers\` must name who decides`,
    );
  }
  if (new Set(approvers).size < approvers.length) {
    failMeaning(text, ["approvals", "quorum", "approvers"], "names somebody twice");
  }
}

function checkPart(text: ConfigText, part: AgentConfig, at: string[]): void {
  const source = at.length > 0 ? `${text.path}: \`${keyPath(at)}\`` : text.path;
  loadPolicy({ rules: part.rules, allowlist: part.allowlist }, source);
  for (const [index, id] of (part.allowDenied ?? []).entries()) {
    if (LIFTABLE.includes(id)) continue;
    const hard = RULES.some((rule) => rule.id === id);
    const near = nearest(id, LIFTABLE);
    const instead = near ? `did you mean "${near}"?` : `known: ${LIFTABLE.join(", ")}`;
    const why = hard ? `"${id}" cannot be lifted` : `there is no rule "${id}"; ${instead}`;
    failMeaning(text, [...at, "allowDenied", index], `: ${why}`);
  }
}

function failMeaning(text: ConfigText, path: PropertyKey[], why: string): never {
  const key = keyPath(path);
  const message = `\`${key}\`${why.startsWith(":") ? "" : " "}${why}${why.endsWith("?") ? "" : "."}`;
  throw badConfiguration(text.path, message, text.document.positionOf(path), key);
}
