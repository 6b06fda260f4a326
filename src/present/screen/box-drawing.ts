import { type Mask, type Pen, penFor } from "./pen.ts";

/** U+2500 to U+257F: what goes left, right, up and down from the middle: 1 a thin line, 2 a thick one, 3 two lines. */
const ARMS = [
  "1100 2200 0011 0022 1100 2200 0011 0022 1100 2200 0011 0022 0101 0201 0102 0202",
  "1001 2001 1002 2002 0110 0210 0120 0220 1010 2010 1020 2020 0111 0211 0121 0112",
  "0122 0221 0212 0222 1011 2011 1021 1012 1022 2021 2012 2022 1101 2101 1201 2201",
  "1102 2102 1202 2202 1110 2110 1210 2210 1120 2120 1220 2220 1111 2111 1211 2211",
  "1121 1112 1122 2121 1221 2112 1212 2221 2212 2122 1222 2222 1100 2200 0011 0022",
  "3300 0033 0301 0103 0303 3001 1003 3003 0310 0130 0330 3010 1030 3030 0311 0133",
  "0333 3011 1033 3033 3301 1103 3303 3310 1130 3330 3311 1133 3333 0101 1001 1010",
  "0110 0000 0000 0000 1000 0010 0100 0001 2000 0020 0200 0002 1200 0012 2100 0021",
]
  .join(" ")
  .split(" ");

const FIRST = 0x2500;
const DIAGONALS: Record<number, string> = { 9585: "/", 9586: "\\", 9587: "/\\" };

/** Lines that meet those of the neighbouring cells, whatever the size; null: not one of them. */
export function boxDrawing(codepoint: number, width: number, height: number): Mask | null {
  const arms = ARMS[codepoint - FIRST];
  if (arms === undefined) return null;
  const pen = penFor(width, height);
  const diagonals = DIAGONALS[codepoint] ?? "";
  if (diagonals.includes("/")) pen.stroke([[width, 0], [0, height]], width / 8); // biome-ignore format: two points
  if (diagonals.includes("\\")) pen.stroke([[0, 0], [width, height]], width / 8); // biome-ignore format: two points
  const [left = 0, right = 0, up = 0, down = 0] = [...arms].map(Number);
  const reach = { horizontal: Math.max(left, right), vertical: Math.max(up, down) };
  drawArm(pen, left, reach.vertical, (from, to, thick, at) => pen.fill(from, at, to - from, thick), [0, width], height);
  drawArm(
    pen,
    right,
    reach.vertical,
    (from, to, thick, at) => pen.fill(from, at, to - from, thick),
    [width, 0],
    height,
  );
  drawArm(pen, up, reach.horizontal, (from, to, thick, at) => pen.fill(at, from, thick, to - from), [0, height], width);
  drawArm(
    pen,
    down,
    reach.horizontal,
    (from, to, thick, at) => pen.fill(at, from, thick, to - from),
    [height, 0],
    width,
  );
  return pen.mask;
}

type Bar = (from: number, to: number, thick: number, at: number) => void;

/** From an edge to the middle, and over it as far as what crosses there is thick. */
function drawArm(pen: Pen, weight: number, crossing: number, bar: Bar, edges: [number, number], across: number): void {
  if (weight === 0) return;
  const thin = pen.line;
  const over = crossing === 0 ? thin / 2 : crossing === 3 ? thin * 1.5 : (thin * crossing) / 2;
  const [edge, far] = edges;
  const middle = (edge + far) / 2;
  const end = edge < far ? Math.floor(middle - over) + Math.ceil(2 * over) : Math.floor(middle - over);
  const [from, to] = edge < far ? [edge, end] : [end, edge];
  const thick = weight === 2 ? thin * 2 : thin;
  const offsets = weight === 3 ? [-thin, thin] : [0];
  for (const offset of offsets) bar(from, to, thick, Math.floor(across / 2 - thick / 2 + offset));
}
