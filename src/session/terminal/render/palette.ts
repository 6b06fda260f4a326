import type { ScreenRun } from "../../../core/terminal.ts";

type Rgb = readonly [red: number, green: number, blue: number];

/** The terminal's own colours in a picture. */
export const FOREGROUND: Rgb = [0xd6, 0xd9, 0xdd];
export const BACKGROUND: Rgb = [0x16, 0x19, 0x1d];
export const CURSOR: Rgb = [0xd6, 0xd9, 0xdd];

/** The sixteen that programs name; softer than the first terminals', so that all of them can be read on the background. */
const NAMED = [
  "2b3036",
  "e0565b",
  "7fc06a",
  "d9b25f",
  "6ca4e0",
  "bf86d8",
  "5fb9bd",
  "c3c8ce",
  "5f6873",
  "f27d80",
  "a2d88f",
  "f0cf86",
  "92c0f2",
  "d7a9ea",
  "8ad5d8",
  "f4f6f8",
].map(fromHex);

/** Steps of the 6 x 6 x 6 cube. */
const STEPS = [0, 0x5f, 0x87, 0xaf, 0xd7, 0xff];

export function paletteColour(index: number): Rgb {
  const named = NAMED[index];
  if (named) return named;
  if (index >= 232) {
    const grey = 8 + 10 * (Math.min(255, index) - 232);
    return [grey, grey, grey];
  }
  const place = Math.max(0, index - 16);
  const step = (divisor: number) => STEPS[Math.floor(place / divisor) % 6] ?? 0;
  return [step(36), step(6), step(1)];
}

/** What a run is painted with: its colours swapped where it is inverse, and paler where it is dim. */
export function coloursOf(run: Pick<ScreenRun, "foreground" | "background" | "inverse" | "dim">): {
  text: Rgb;
  behind: Rgb | null;
} {
  const own = run.foreground === null ? FOREGROUND : colour(run.foreground);
  const back = run.background === null ? null : colour(run.background);
  const text = run.inverse ? (back ?? BACKGROUND) : own;
  const behind = run.inverse ? own : back;
  return { text: run.dim ? mix(text, behind ?? BACKGROUND, 0.45) : text, behind };
}

export function toHex(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function colour(value: number | string): Rgb {
  return typeof value === "number" ? paletteColour(value) : fromHex(value.replace("#", ""));
}

function fromHex(hex: string): Rgb {
  const value = Number.parseInt(hex, 16) || 0;
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff];
}

function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [part(0), part(1), part(2)];
}
