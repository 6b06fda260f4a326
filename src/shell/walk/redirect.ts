/** Expands redirections: the files a command reads and writes, and the content of its standard input. */
import type { Redirect } from "../../core/facts.ts";
import { expandParts, expandValue } from "../expand/expand.ts";
import { type Field, literal, wordOf } from "../expand/field.ts";
import type { Expander } from "../expand/substitution.ts";
import type { HereDoc, Redirection } from "../parse.ts";
import { normalize } from "../path.ts";
import type { StreamContent } from "./state.ts";
import { spanAt } from "./state.ts";
import { contentOf, emptyContent, fileContent } from "./streams.ts";
import { markUnknown } from "./walk.ts";

export interface Redirects {
  facts: Redirect[];
  /** Content of standard input, if a redirection sets it. */
  stdin: StreamContent | null;
  /** Content of other descriptors that redirections open for reading. */
  descriptors: Map<number, StreamContent>;
  targets: { field: Field; path: string; append: boolean; stdout: boolean }[];
}

export function redirects(at: Expander, nodes: readonly Redirection[]): Redirects {
  const found: Redirects = { facts: [], stdin: null, descriptors: new Map(), targets: [] };
  const open = (fd: number | null, content: StreamContent) => {
    if (fd === null || fd === 0) found.stdin = content;
    else found.descriptors.set(fd, content);
  };
  for (const node of nodes) {
    const span = spanAt(at.origin, node.pos, node.end);
    const fd = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : null;
    if (node.type === "HereDoc") {
      if (!node.closing) markUnknown(at.walk, { span, why: "a here-document has no closing delimiter" });
      open(fd, { kind: "text", ...hereDocument(at, node) });
      found.facts.push({ kind: "here", fd, target: null, path: null, span });
      continue;
    }
    const field = node.target ? expandValue(at, node.target) : literal("", "", span);
    if (node.type === "HereString") {
      open(fd, hereString(field));
      found.facts.push({ kind: "here", fd, target: wordOf(field), path: null, span });
      continue;
    }
    const kind = kindOf(node.operator, field.value);
    const path = kind === "duplicate" || field.shape === null ? null : normalize(field.shape, at.walk.state.cwd);
    found.facts.push({ kind, fd, target: wordOf(field), path: field.value === null ? null : path, span });
    if (kind === "duplicate") {
      if (field.value === null)
        markUnknown(at.walk, { span, why: "the target of a redirection is known only at run time" });
      else if (node.operator === "<&") open(fd, duplicated(at, found, field.value));
    } else if (kind === "read") {
      open(fd, path === null ? { kind: "unknown", why: "the contents of a file" } : readBy(at, found, path));
    } else if (path === null || (field.uncertain && field.value !== null)) {
      markUnknown(at.walk, { span, why: "the target of a redirection is known only at run time" });
      if (path !== null)
        found.targets.push({ field, path, append: kind === "append", stdout: fd === null || fd === 1 });
    } else found.targets.push({ field, path, append: kind === "append", stdout: fd === null || fd === 1 });
  }
  return found;
}

function hereString(field: Field): StreamContent {
  if (field.value !== null) {
    const input = field.uncertain?.input === true;
    return { kind: "text", text: `${field.value}\n`, field, uncertain: field.uncertain, input };
  }
  return field.content ?? { kind: "unknown", why: "a here-string", remote: field.uncertain?.remote === true };
}

/** Returns the content of a path that is opened for reading, in the order in which bash applies redirections. */
function readBy({ walk }: Expander, found: Redirects, path: string): StreamContent {
  const stdin = found.stdin ?? walk.state.stdin;
  const descriptors = new Map([...walk.state.descriptors, ...found.descriptors]);
  return contentOf({ walk, stdin, descriptors }, path) ?? fileContent(path);
}

/** Returns the content of a descriptor that is copied with `<&3`. After `<&-`, nothing can be read. */
function duplicated({ walk }: Expander, found: Redirects, source: string): StreamContent {
  const fd = Number.parseInt(source, 10);
  if (Number.isNaN(fd)) return emptyContent();
  if (fd === 0) return found.stdin ?? walk.state.stdin;
  const content = found.descriptors.get(fd) ?? walk.state.descriptors.get(fd);
  return content ?? { kind: "unknown", why: "a descriptor that is opened elsewhere" };
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
