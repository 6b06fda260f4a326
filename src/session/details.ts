import { type Wording, worded } from "../core/next-step.ts";
import type { SessionInfo, SessionLimits, StreamInfo } from "../core/session.ts";
import { commandLine } from "../text/command-line.ts";
import { counted, formatDuration, formatSize } from "../text/format.ts";
import type { Pair } from "../text/table.ts";

/** Returns a session's details as labeled values, in display order. */
export function sessionDetails(info: SessionInfo, wording: Wording): Pair[] {
  const pairs: (Pair | null)[] = [
    ["id", info.id],
    ["name", info.name],
    ["status", info.lingering ? `${info.status}, descendant processes still running` : info.status],
    ["exit", exitText(info)],
    ["command", commandLine(info.command, info.args)],
    ["run", info.args === null ? "with bash" : "directly, without a shell"],
    ["cwd", info.cwd],
    ["agent", info.agent],
    ["sandbox", info.sandbox],
    given("intent", info.intent),
    ["mode", info.background ? "background" : "foreground"],
    ["capture", info.capture === "merged" ? "stdout and stderr as one stream" : "stdout and stderr separately"],
    given("host", info.host),
    given("requested by", info.gateway),
    given("pid", info.pid),
    ["started", info.startedAt],
    given("ended", info.endedAt),
    ["duration", info.durationMs === null ? "unknown" : formatDuration(info.durationMs)],
    ["deadline", info.timeoutMs === 0 ? "none" : formatDuration(info.timeoutMs)],
    given("limits", limitsText(info.limits)),
    ...usagePairs(info),
    ...Object.entries(info.streams).map(([name, stream]): Pair => [name, streamText(stream)]),
    given("log file", info.logFile),
    info.envNames.length > 0 ? ["variables", info.envNames.join(" ")] : null,
    info.leftover > 0
      ? ["leftover", `${counted(info.leftover, "process", "processes")} still running when the command ended`]
      : null,
    ...info.warnings.map((warning): Pair => ["warning", warning]),
    ...worded(info.hints, wording).map(({ hint }): Pair => ["hint", hint]),
    given("error", info.error?.message),
    ...worded(info.error?.recovery ?? [], wording).map(({ hint }): Pair => ["", hint]),
  ];
  return pairs.filter((pair) => pair !== null);
}

function given(label: string, value: string | number | null | undefined): Pair | null {
  return value === null || value === undefined ? null : [label, String(value)];
}

function exitText({ exitCode, signal, coreDumped }: SessionInfo): string {
  if (signal) return coreDumped ? `${signal}, core dumped` : signal;
  return exitCode === null ? "-" : String(exitCode);
}

function limitsText(limits: SessionLimits | null): string | null {
  if (limits === null) return null;
  const { memoryBytes, cpu, processes, diskBytes, fileSize, openFiles } = limits;
  const parts = [
    memoryBytes === null ? null : `${formatSize(memoryBytes)} memory`,
    cpu === null ? null : cpu === 1 ? "1 CPU" : `${cpu} CPUs`,
    processes === null ? null : `${processes} processes and threads`,
    diskBytes === null ? null : `${formatSize(diskBytes)} written`,
    fileSize === null ? null : `${formatSize(fileSize)} per file`,
    openFiles === null ? null : `${openFiles} open files per process`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "none" : parts.join(", ");
}

function usagePairs({ resourceUsage: usage }: SessionInfo): Pair[] {
  if (!usage) return [];
  return [
    ["cpu", formatDuration(usage.cpuMs)],
    ["memory", `${formatSize(usage.memoryPeakBytes)} peak`],
    ["i/o", `${formatSize(usage.ioReadBytes)} read, ${formatSize(usage.ioWriteBytes)} written`],
  ];
}

function streamText({ bytes, droppedStart, droppedEnd, lost }: StreamInfo): string {
  const dropped = droppedEnd - droppedStart;
  return [
    formatSize(bytes),
    ...(dropped > 0 ? [`${formatSize(dropped)} dropped from the middle`] : []),
    ...(lost > 0 ? [`${formatSize(lost)} lost to a full disk`] : []),
  ].join(", ");
}
