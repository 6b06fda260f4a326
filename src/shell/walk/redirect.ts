/** Expands redirections: the files a command reads and writes, and the content of its standard input. */
import type { Redirect } from "../../core/facts.ts";
import { expandParts, expandValue } from "../expand/expand.ts";
import { type Field, literal, wordOf } from "../expand/field.ts";
import type { Expander } from "../expand/substitution.ts";
import type { HereDoc, Redirection } from "../parse.ts";
import { normalize } from "../path.ts";
import type { StreamContent } from "./state.ts";
import { spanAt } from "./state.ts";
import { markUnknown } from "./walk.ts";

export interface Redirects {
  facts: Redirect[];
  /** Content of standard input, if a redirection sets it. */
  stdin: StreamContent | null;
  targets: { field: Field; path: string; append: boolean; stdout: boolean }[];
}

export function redirects(at: Expander, nodes: readonly Redirection[]): Redirects {
  const found: Redirects = { facts: [], stdin: null, targets: [] };
  for (const node of nodes) {
    const span = spanAt(at.origin, node.pos, node.end);
    const fd = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : null;
    if (node.type === "HereDoc") {
      if (!node.closing) markUnknown(at.walk, { span, why: "a here-document has no closing delimiter" });
      found.stdin = { kind: "text", ...hereDocument(at, node) };
      found.facts.push({ kind: "here", fd, target: null, path: null, span });
      continue;
    }
    const field = node.target ? expandValue(at, node.target) : literal("", "", span);
    if (node.type === "HereString") {
      found.stdin =
        field.value === null
          ? { kind: "unknown", why: "a here-string" }
          : { kind: "text", text: `${field.value}\n`, field, uncertain: field.uncertain };
      found.facts.push({ kind: "here", fd, target: wordOf(field), path: null, span });
      continue;
    }
    const kind = kindOf(node.operator, field.value);
    const path = kind === "duplicate" || field.shape === null ? null : normalize(field.shape, at.walk.state.cwd);
    found.facts.push({ kind, fd, target: wordOf(field), path: field.value === null ? null : path, span });
    if (kind === "duplicate") {
      if (field.value === null)
        markUnknown(at.walk, { span, why: "the target of a redirection is known only at run time" });
    } else if (kind === "read") {
      if (fd === null || fd === 0)
        found.stdin = at.walk.state.written.get(path ?? "") ?? { kind: "unknown", why: "the contents of a file" };
    } else if (path === null || (field.uncertain && field.value !== null)) {
      markUnknown(at.walk, { span, why: "the target of a redirection is known only at run time" });
      if (path !== null)
        found.targets.push({ field, path, append: kind === "append", stdout: fd === null || fd === 1 });
    } else found.targets.push({ field, path, append: kind === "append", stdout: fd === null || fd === 1 });
  }
  return found;
}

function kindOf(operator: string, value: string | null): Redirect["kind"] {
  if (operator === "<&") return "duplicate";
  if (operator === ">&") return value === null || /^(?:\d+-?|-)$/.test(value) ? "duplicate" : "write";
  if (operator === "<") return "read";
  if (operator === "<>") return "read-write";
  return operator === ">>" || operator === "&>>" ? "append" : "write";
}

function hereDocument(
  at: Expander,
  node: HereDoc,
): { text: string; field: Field | null; uncertain: Field["uncertain"] } {
  const { body, delimiter } = node;
  const span = spanAt(at.origin, body.pos, body.end);
  const strip = (text: string) => (node.operator === "<<-" ? text.replace(/^\t+/gm, "") : text);
  if (!delimiter || delimiter.quoted || !body.parts) {
    const text = delimiter?.quoted
      ? strip(body.text)
      : strip(body.text).replace(/\\([$`\\\n])/g, (_, c) => (c === "\n" ? "" : c));
    return { text, field: literal(text, body.text, span), uncertain: null };
  }
  const field = expandParts(at, body.parts, body.text, { ...at.origin, span });
  // Unknown parts are replaced by `_`, so that the commands around them are still found. `uncertain` marks the text as
  // not fully known.
  const text = field.value ?? strip(body.text).replace(/\$\{?\w+\}?|`[^`]*`|\$\([^)]*\)/g, "_");
  return { text: strip(text), field, uncertain: field.uncertain };
}
