import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

export interface ChartLine {
  name: string;
  /** A CSS custom property, such as `--accent`. */
  color: string;
}

export interface ChartLook {
  lines: ChartLine[];
  format: (value: number) => string;
  /** The upper end of the scale is at least this value, so that small values look small. */
  least: number;
}

export interface Chart {
  set(data: number[][]): void;
  dispose(): void;
}

const HEIGHT = 150;
const TIME = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});
const clock = (seconds: number): string => (Number.isInteger(seconds) ? TIME.format(seconds * 1000) : "");

/** Draws lines over time on a canvas. The text beside the chart states the current value for screen readers. */
export function drawChart(element: HTMLElement, { lines, format, least }: ChartLook): Chart {
  const color = (name: string): string => getComputedStyle(element).getPropertyValue(name).trim();
  // A canvas does not support light-dark(…), so the browser resolves the color on an element.
  const resolved = (name: string): string => {
    element.style.setProperty("color", color(name));
    const value = getComputedStyle(element).color;
    element.style.removeProperty("color");
    return value;
  };
  const axis = { stroke: resolved("--muted"), grid: { stroke: resolved("--line"), width: 1 }, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: Math.max(200, element.clientWidth),
      height: HEIGHT,
      cursor: { y: false },
      legend: { show: false },
      scales: { y: { range: (_plot, _low, high) => [0, Math.max(high * 1.15, least)] } },
      axes: [
        { ...axis, size: 30, space: 90, values: (_plot, values) => values.map(clock) },
        { ...axis, size: 58, values: (_plot, values) => values.map(format) },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.name,
          stroke: resolved(line.color),
          fill: resolved(line.color).replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)"),
          width: 1.5,
          points: { show: false },
        })),
      ],
    },
    [[], ...lines.map(() => [])],
    element,
  );
  const observer = new ResizeObserver(() =>
    plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
  );
  observer.observe(element);
  return {
    set: (data) => plot.setData(data as uPlot.AlignedData),
    dispose: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}
