/**
 * The form with which a host asks its user about a command. Hosts cut a form to a few lines without saying so, so
 * everything that a person must see is in three lines: what is asked about and why, then the whole command. A command
 * that does not fit is not asked about in the host (invariant 2).
 */
import { textRows } from "../approval/render.ts";
import type { Approval, ApprovalRequest } from "../core/approval.ts";
import { fit } from "../text/width.ts";

/** Hosts show 3 lines of a form, on terminals of 80 columns with a border. */
const LINES = 3;
const COLUMNS = 72;
const RISKY_COLUMNS = 30;

export interface ApprovalForm {
  message: string;
  requestedSchema: {
    type: "object";
    properties: { always?: { type: "boolean"; title: string; description: string; default: false } };
  };
}

/** Returns the form for an approval; null when it does not fit, so that a person decides elsewhere. */
export function approvalForm({ request }: Approval): ApprovalForm | null {
  const command = textRows(request.command, [], { color: false, columns: COLUMNS });
  const notes = [
    ...(request.stdin === null ? [] : request.stdin.text.replace(/\n$/, "").split("\n")).map(
      (line) => `stdin: ${line}`,
    ),
    ...request.environment.map(({ name, value }) => `variable: ${name}=${value}`),
    ...(request.unbound.length > 0 ? [`may change: ${request.unbound.join(", ")}`] : []),
  ];
  const lines = [headline(request), ...command, ...notes];
  if (lines.length > LINES || notes.some((note) => fit(note, COLUMNS) !== note)) return null;
  if (lines.length < LINES) lines.push(fit(`in ${request.cwd}; sandbox: ${request.confinement}`, COLUMNS));
  return { message: lines.join("\n"), requestedSchema: { type: "object", properties: properties(request) } };
}

/** No field is required: accepting the form approves the command once. */
function properties({ always }: ApprovalRequest): ApprovalForm["requestedSchema"]["properties"] {
  if (!always.ok) return {};
  const description = "Also allow this command from now on, without approval";
  return { always: { type: "boolean", title: "Always", description, default: false } };
}

/** Returns the part of the command that requires approval and why, or what changed since an earlier approval. */
function headline({ agent, command: { text }, reasons, changed }: ApprovalRequest): string {
  const [change] = changed;
  if (change !== undefined) return fit(`${agent}: since it was approved, ${change}`, COLUMNS);
  // A reason for a part of the command says more than one for every command.
  const reason = reasons.find((each) => each.span !== null) ?? reasons[0];
  const more = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : "";
  const span = reason?.span;
  const risky = span ? text.slice(span.start, span.end).trim().replaceAll(/\s+/g, " ") : "";
  const part = risky === "" || risky === text.trim() ? "" : ` (${fit(risky, RISKY_COLUMNS)})`;
  const why = reason ? reason.message.replace(/\.$/, "") : "this command requires approval";
  return `${fit(`${agent}${part}: ${why}`, COLUMNS - more.length)}${more}`;
}
