import { createHash } from "node:crypto";
import type { SessionInfo } from "../../core/session.ts";
import { quoteArgv } from "../../shell/quote.ts";
import { maskText } from "../../text/secrets.ts";
import type { Stage } from "./settings.ts";

export type Attribute = string | number | boolean;

export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startMs: number;
  endMs: number;
  attributes: Readonly<Record<string, Attribute>>;
  /** Null when the status is unset. */
  ok: boolean | null;
  message?: string;
}

/** Names of the spans that end with each step. */
const STAGE_NAMES = new Map([
  ["decided", "decide"],
  ["authorized", "authorize"],
  ["prepared", "prepare"],
  ["recorded", "record"],
  ["launched", "launch"],
]);

/** Maximum length of the command line, in characters. Secrets in the command line are masked. */
const MAX_COMMAND = 1000;

/** Returns the spans of an ended command: one for the whole command and one for each stage. */
export function spansOf(info: SessionInfo, stages: readonly Stage[]): Span[] {
  // A session ID has the length of a trace ID, so the trace of a session can be found by its ID.
  const traceId = info.id.replaceAll("-", "");
  const root = spanId(info.id, "command");
  const startedMs = Date.parse(info.startedAt);
  const endMs = info.endedAt === null ? startedMs : Date.parse(info.endedAt);
  const begunMs = Math.min(stages[0]?.atMs ?? startedMs, startedMs);
  const child = (name: string, from: number, to: number): Span => ({
    traceId,
    spanId: spanId(info.id, name),
    parentSpanId: root,
    name: `sallyport.${name}`,
    startMs: from,
    endMs: Math.max(from, to),
    attributes: {},
    ok: null,
  });
  const steps = stages.flatMap(({ step, atMs }, index) => {
    const name = STAGE_NAMES.get(step);
    const before = stages[index - 1];
    return name && before ? [child(index < 6 ? name : `${name}.${index}`, before.atMs, atMs)] : [];
  });
  const lastMs = stages.at(-1)?.atMs ?? startedMs;
  const ran = info.pid !== null || info.exitCode !== null ? [child("run", Math.min(lastMs, endMs), endMs)] : [];
  const whole: Span = {
    traceId,
    spanId: root,
    name: "sallyport.command",
    startMs: begunMs,
    endMs: Math.max(endMs, lastMs),
    attributes: attributesOf(info),
    ok: info.status === "completed" ? info.exitCode === 0 : false,
    ...(info.error ? { message: maskText(info.error.message) } : {}),
  };
  return [whole, ...steps, ...ran];
}

function attributesOf(info: SessionInfo): Record<string, Attribute> {
  const { id, name, agent, status, background, sandbox, exitCode, signal, cwd, pid, resourceUsage } = info;
  const line = info.args ? quoteArgv([info.command, ...info.args]) : info.command;
  return {
    "sallyport.session.id": id,
    "sallyport.session.name": name,
    "sallyport.agent": agent,
    "sallyport.status": status,
    "sallyport.background": background,
    "sallyport.sandbox": sandbox,
    "process.command_line": maskText(line.slice(0, MAX_COMMAND)),
    "process.working_directory": cwd,
    ...(pid === null ? {} : { "process.pid": pid }),
    ...(exitCode === null ? {} : { "process.exit.code": exitCode }),
    ...(signal === null ? {} : { "sallyport.signal": signal }),
    ...(resourceUsage === null
      ? {}
      : { "sallyport.cpu_ms": resourceUsage.cpuMs, "sallyport.memory_peak_bytes": resourceUsage.memoryPeakBytes }),
  };
}

/** Derives the ID from the session, so that a span that is exported twice remains one span. */
function spanId(session: string, name: string): string {
  return createHash("sha256").update(`${session} ${name}`).digest("hex").slice(0, 16);
}
