import { Show } from "solid-js";
import type { SessionInfo } from "../../../../src/core/session.ts";
import { formatDuration, formatSize } from "../../../../src/text/format.ts";
import { usageOf } from "../../live/usage.ts";
import { sessionHash } from "../../route.ts";
import { now } from "../../ui/clock.ts";
import { CommandText } from "../../ui/command.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Sparkline } from "../../ui/sparkline.tsx";
import { Status } from "../../ui/status.tsx";
import { Ago } from "../../ui/time.tsx";

const SAMPLES = 45;

export function SessionRow(props: { info: SessionInfo; index: number; onFocus: () => void }) {
  const isLive = () => props.info.status === "running" || props.info.lingering;
  const took = () =>
    props.info.status === "running" ? now() - Date.parse(props.info.startedAt) : (props.info.durationMs ?? 0);
  return (
    <div class="session-row" role="row" aria-rowindex={props.index + 2} data-tone={isLive() ? "live" : "ended"}>
      <div role="cell" class="cell-state">
        <Status info={props.info} />
      </div>
      <div role="cell" class="cell-command">
        <a href={sessionHash(props.info.id)} data-session={props.info.id} onFocus={() => props.onFocus()}>
          <CommandText command={props.info.command} args={props.info.args} />
        </a>
        <span class="cell-name">
          <Shown text={props.info.name} />
          <span class="by">
            by <Shown text={props.info.agent} />
            <Show when={props.info.host}>{(host) => <> on {<Shown text={host()} />}</>}</Show>
            <Show when={props.info.gateway}>{(gateway) => <> for {<Shown text={gateway()} />}</>}</Show>
          </span>
        </span>
      </div>
      <div role="cell" class="cell-age">
        <Ago at={props.info.startedAt} />
      </div>
      <div role="cell" class="cell-took">
        {formatDuration(Math.max(0, isLive() ? Math.floor(took() / 1000) * 1000 : took()))}
      </div>
      <div role="cell" class="cell-cpu">
        <Show when={isLive()} fallback={<Past value={pastCpu(props.info)} />}>
          <LiveUsage id={props.info.id} of="cpu" />
        </Show>
      </div>
      <div role="cell" class="cell-memory">
        <Show when={isLive()} fallback={<Past value={pastMemory(props.info)} />}>
          <LiveUsage id={props.info.id} of="memory" />
        </Show>
      </div>
    </div>
  );
}

const pastCpu = ({ resourceUsage }: SessionInfo): string => (resourceUsage ? formatDuration(resourceUsage.cpuMs) : "");
const pastMemory = ({ resourceUsage }: SessionInfo): string =>
  resourceUsage && resourceUsage.memoryPeakBytes > 0 ? formatSize(resourceUsage.memoryPeakBytes) : "";

function Past(props: { value: string }) {
  return <span class="muted">{props.value}</span>;
}

function LiveUsage(props: { id: string; of: "cpu" | "memory" }) {
  const values = () => usageOf(props.id)?.[props.of] ?? [];
  const last = () => values().at(-1);
  const text = () => {
    const value = last();
    if (value === undefined) return "";
    return props.of === "cpu" ? `${Math.round(value)}%` : formatSize(value);
  };
  return (
    <span class="live-usage" data-of={props.of}>
      <span class="figure">{text()}</span>
      <Sparkline values={values()} samples={SAMPLES} atLeast={props.of === "cpu" ? 25 : 1} />
    </span>
  );
}
