import type { CommandFact } from "../core/facts.ts";
import type { RunRequest } from "../core/request.ts";
import type { Status } from "../core/result.ts";
import type { Verdict } from "../core/verdict.ts";
import { confinementText } from "../sandbox/describe.ts";
import type { Asked } from "../session/registry.ts";
import { quoteArgv } from "../shell/quote.ts";
import type { NewAuditEntry } from "../storage/audit-entry.ts";
import type { Ended } from "../storage/sessions.ts";
import type { Attempt } from "./record.ts";

/** As a person would type it. */
function commandLine(request: Pick<RunRequest, "command" | "args">): string {
  return request.args ? quoteArgv([request.command, ...request.args]) : request.command;
}

/** The entry that precedes every run, and the only one of those that did not come to it. */
export function runEntry(
  { request, verdict, sandbox }: Attempt,
  session: Asked,
  { actor, channel }: { actor: string; channel: string },
  outcome: string,
  by: { approval: string | null; grants: string[]; vouched?: object },
  why?: string,
): NewAuditEntry {
  return {
    kind: "run",
    agent: session.agent,
    session: session.id,
    actor,
    channel,
    outcome,
    summary: commandLine(request),
    detail: {
      cwd: session.cwd,
      background: session.background === 1,
      env: request.env ? Object.keys(request.env) : [],
      intent: request.intent ?? null,
      ...(sandbox ? { sandbox: confinementText(sandbox) } : {}),
      ...(verdict ? judged(verdict) : {}),
      ...(why ? { why } : {}),
      ...(by.approval ? { approval: by.approval } : {}),
      ...(by.grants.length > 0 ? { grants: by.grants } : {}),
      ...(by.vouched ? { statement: by.vouched } : {}),
    },
  };
}

function judged({ verdict, reasons, commands }: Verdict): object {
  return { verdict, rules: reasons.map(({ rule }) => rule), programs: commands.map(programOf) };
}

function programOf({ executable }: CommandFact): string {
  return executable.resolved ?? executable.written ?? "unknown";
}

/** What became of a run; stored with the session's end. */
export function exitEntry(
  session: Pick<Asked, "id" | "agent" | "command" | "args">,
  { status, record, error }: Ended,
): NewAuditEntry {
  const { code, signal, durationUs, leftover } = record === null ? NO_RECORD : (JSON.parse(record) as typeof NO_RECORD);
  const detail = { exitCode: code, signal, durationMs: durationUs / 1000, leftover };
  return {
    kind: "exit",
    agent: session.agent,
    session: session.id,
    actor: "sallyport",
    channel: "keeper",
    outcome: status satisfies Status,
    summary: commandLine({
      command: session.command,
      ...(session.args ? { args: JSON.parse(session.args) as string[] } : {}),
    }),
    detail: error === null ? detail : { ...detail, error: JSON.parse(error) as object },
  };
}

const NO_RECORD = { code: null as number | null, signal: 0, durationUs: 0, leftover: 0 };
