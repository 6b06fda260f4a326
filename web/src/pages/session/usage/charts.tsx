import { createEffect, createMemo, onCleanup, onMount, Show } from "solid-js";
import { formatDuration, formatSize } from "../../../../../src/text/format.ts";
import { isDark } from "../../../theme.ts";
import { type ChartLook, drawChart } from "./chart.ts";
import type { Sample, Sampler } from "./sampler.ts";
import "./usage.css";

const percent = (value: number): string => `${Math.round(value)}%`;
const DISK = [
  { name: "Read", color: "--good" },
  { name: "Written", color: "--warn" },
];

const rate = (value: number): string => `${formatSize(value)}/s`;

export default function UsageTab(props: { sampler: Sampler; live: boolean }) {
  const samples = props.sampler.samples;
  const last = createMemo(() => samples().at(-1));
  return (
    <section class="usage" aria-label="Usage">
      <Show when={props.sampler.usage()}>
        {(usage) => (
          <dl class="figures">
            <Figure name="CPU time" value={formatDuration(usage().cpuMs)} />
            <Figure name="Peak memory" value={formatSize(usage().memoryPeakBytes)} />
            <Figure name="Read" value={formatSize(usage().ioReadBytes)} />
            <Figure name="Written" value={formatSize(usage().ioWriteBytes)} />
          </dl>
        )}
      </Show>
      <Show
        when={samples().length > 1}
        fallback={
          <p class="hint" role="status">
            {props.live
              ? "Measuring…"
              : "The session has ended. Charts are only available while a session is running and this page is open."}
          </p>
        }
      >
        <div class="charts">
          <ChartCard
            title="CPU"
            now={percent(last()?.cpuPercent ?? 0)}
            look={{ lines: [{ name: "CPU", color: "--accent" }], format: percent, least: 10 }}
            samples={samples()}
            values={({ cpuPercent }) => [cpuPercent]}
          />
          <ChartCard
            title="Memory"
            now={formatSize(last()?.memoryBytes ?? 0)}
            look={{ lines: [{ name: "Memory", color: "--odd" }], format: formatSize, least: 1 << 20 }}
            samples={samples()}
            values={({ memoryBytes }) => [memoryBytes]}
          />
          <ChartCard
            title="Disk"
            now={`${rate(last()?.readPerSecond ?? 0)} read, ${rate(last()?.writtenPerSecond ?? 0)} written`}
            look={{ lines: DISK, format: rate, least: 1024 }}
            samples={samples()}
            values={({ readPerSecond, writtenPerSecond }) => [readPerSecond, writtenPerSecond]}
          />
        </div>
      </Show>
    </section>
  );
}

function Figure(props: { name: string; value: string }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd>{props.value}</dd>
    </div>
  );
}

function ChartCard(props: {
  title: string;
  now: string;
  look: ChartLook;
  samples: Sample[];
  values: (sample: Sample) => number[];
}) {
  let place!: HTMLDivElement;
  onMount(() => {
    // Drawn again when the theme changes, because a canvas keeps its colors.
    createEffect(() => {
      isDark();
      const chart = drawChart(place, props.look);
      createEffect(() => {
        const columns = props.samples.map((sample) => props.values(sample));
        chart.set([
          props.samples.map(({ at }) => at),
          ...props.look.lines.map((_, index) => columns.map((column) => column[index] ?? 0)),
        ]);
      });
      onCleanup(() => chart.dispose());
    });
  });
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{props.title}</h2>
        <span>{props.now}</span>
      </figcaption>
      <div ref={place} class="chart-place" aria-hidden="true" />
    </figure>
  );
}
