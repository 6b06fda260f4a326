/** A chart of measurements that is drawn as SVG: lines over a logarithmic x axis, or bars. */
export interface Chart {
  /** The name of the chart's file in docs/plots/. */
  file: string;
  title: string;
  x: string;
  y: string;
  lines: { name: string; points: [x: number, y: number][] }[];
}

export interface Bars {
  file: string;
  title: string;
  unit: string;
  bars: { name: string; value: number; ours: boolean }[];
}

const WIDTH = 640;
const HEIGHT = 320;
const LEFT = 64;
const RIGHT = 150;
const TOP = 40;
const BOTTOM = 48;
const COLORS = ["#2f7ed8", "#d9822b", "#6aa84f", "#a64d79"];
const INK = "#7a7a7a";

export function drawLines({ title, x, y, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(([at]) => at))].sort((a, b) => a - b);
  const top = niceTop(Math.max(...points.map(([, value]) => value)));
  const column = (at: number) => LEFT + ((WIDTH - LEFT - RIGHT) * xs.indexOf(at)) / Math.max(1, xs.length - 1);
  const row = (value: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / top;
  const names = apart(lines.map(({ points: own }) => row(own.at(-1)?.[1] ?? 0) + 4));
  const drawn = lines.flatMap(({ name, points: own }, index) => {
    const color = COLORS[index % COLORS.length];
    const path = own
      .map(([at, value], n) => `${n === 0 ? "M" : "L"}${round(column(at))} ${round(row(value))}`)
      .join(" ");
    const [lastX = 0] = own.at(-1) ?? [];
    return [
      `<path d="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...own.map(
        ([at, value]) => `<circle cx="${round(column(at))}" cy="${round(row(value))}" r="3" fill="${color}"/>`,
      ),
      label(column(lastX) + 8, names[index] ?? 0, name, "start", color),
    ];
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    `<path d="M${LEFT} ${round(row(top * share))}H${WIDTH - RIGHT}" stroke="${INK}" stroke-opacity="0.25"/>`,
    label(LEFT - 8, row(top * share) + 4, figure(top * share), "end"),
  ]);
  const columns = xs.map((at) => label(column(at), HEIGHT - BOTTOM + 18, figure(at), "middle"));
  const axes = [label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, "middle"), label(LEFT, TOP - 10, y, "start")];
  return picture(title, HEIGHT, [...ticks, ...columns, ...axes, ...drawn]);
}

/** Returns the heights of the labels, moved apart where they would overlap. */
function apart(heights: number[]): number[] {
  const order = [...heights.keys()].sort((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0));
  const placed: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  for (const index of order) placed[index] = last = Math.max(heights[index] ?? 0, last + 14);
  return placed;
}

export function drawBars({ title, unit, bars }: Bars): string {
  const top = Math.max(...bars.map(({ value }) => value));
  const names = 230;
  const height = TOP + bars.length * 28 + 12;
  const drawn = bars.flatMap(({ name, value, ours }, index) => {
    const y = TOP + index * 28;
    const width = round(((WIDTH - names - 90) * value) / top);
    return [
      label(names - 8, y + 14, name, "end"),
      `<rect x="${names}" y="${y}" width="${width}" height="20" fill="${ours ? COLORS[0] : COLORS[1]}"/>`,
      label(names + width + 6, y + 14, `${figure(value)} ${unit}`, "start"),
    ];
  });
  return picture(title, height, drawn);
}

function picture(title: string, height: number, parts: string[]): string {
  const heading = `<text x="${WIDTH / 2}" y="18" text-anchor="middle" font-size="14" font-weight="bold" fill="${INK}">${escaped(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${escaped(title)}">\n${[heading, ...parts].join("\n")}\n</svg>\n`;
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end", fill = INK): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${fill}">${escaped(text)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function figure(value: number): string {
  return value >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** Returns the next value of 1, 2, 4 or 8 times a power of ten, so that its quarters are round numbers. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 8, 10].find((times) => times * power >= value) ?? 10) * power;
}
