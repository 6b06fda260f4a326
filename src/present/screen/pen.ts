/** How much of each pixel of a cell is covered, 0 to 255. */
export interface Mask {
  width: number;
  height: number;
  alpha: Uint8Array;
}

export type Point = readonly [x: number, y: number];

export interface Pen {
  readonly mask: Mask;
  /** A thin line at this size, in whole pixels. */
  readonly line: number;
  stroke(points: readonly Point[], thickness: number): void;
  fill(x: number, y: number, width: number, height: number, alpha?: number): void;
  polygon(points: readonly Point[]): void;
}

/** Draws into the mask of one cell. */
export function penFor(width: number, height: number): Pen {
  const mask: Mask = { width, height, alpha: new Uint8Array(width * height) };
  return {
    mask,
    line: Math.max(1, Math.round(height / 14)),
    stroke: (points, thickness) => stroke(mask, points, thickness),
    fill: (x, y, w, h, alpha = 255) => fill(mask, x, y, w, h, alpha),
    polygon: (points) => polygon(mask, points),
  };
}

/** A pixel is covered by how near its middle is to the line: smooth edges from nothing but a distance. */
function stroke(mask: Mask, points: readonly Point[], thickness: number): void {
  for (let index = 0; index < Math.max(1, points.length - 1); index++) {
    const from = points[index] as Point;
    const to = points[index + 1] ?? from;
    segment(mask, from, to, thickness);
  }
}

function segment({ width, height, alpha }: Mask, from: Point, to: Point, thickness: number): void {
  const reach = thickness / 2 + 1;
  const top = Math.max(0, Math.floor(Math.min(from[1], to[1]) - reach));
  const bottom = Math.min(height - 1, Math.ceil(Math.max(from[1], to[1]) + reach));
  const left = Math.max(0, Math.floor(Math.min(from[0], to[0]) - reach));
  const right = Math.min(width - 1, Math.ceil(Math.max(from[0], to[0]) + reach));
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const cover = Math.min(1, Math.max(0, thickness / 2 + 0.5 - distance(x + 0.5, y + 0.5, from, to)));
      const at = y * width + x;
      alpha[at] = Math.max(alpha[at] ?? 0, Math.round(cover * 255));
    }
  }
}

function distance(x: number, y: number, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const dx = toX - fromX;
  const dy = toY - fromY;
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - fromX) * dx + (y - fromY) * dy) / length));
  return Math.hypot(x - fromX - along * dx, y - fromY - along * dy);
}

function fill(mask: Mask, x: number, y: number, width: number, height: number, alpha: number): void {
  const right = Math.min(mask.width, Math.round(x + width));
  const bottom = Math.min(mask.height, Math.round(y + height));
  for (let row = Math.max(0, Math.round(y)); row < bottom; row++) {
    mask.alpha.fill(alpha, row * mask.width + Math.max(0, Math.round(x)), row * mask.width + right);
  }
}

const SAMPLES = 4;

function polygon(mask: Mask, points: readonly Point[]): void {
  for (let y = 0; y < mask.height; y++) {
    for (let x = 0; x < mask.width; x++) {
      let hits = 0;
      for (let sample = 0; sample < SAMPLES * SAMPLES; sample++) {
        const px = x + ((sample % SAMPLES) + 0.5) / SAMPLES;
        const py = y + (Math.floor(sample / SAMPLES) + 0.5) / SAMPLES;
        if (isInside(px, py, points)) hits++;
      }
      const at = y * mask.width + x;
      mask.alpha[at] = Math.max(mask.alpha[at] ?? 0, Math.round((hits / SAMPLES ** 2) * 255));
    }
  }
}

function isInside(x: number, y: number, points: readonly Point[]): boolean {
  let inside = false;
  for (let index = 0, before = points.length - 1; index < points.length; before = index++) {
    const [ax, ay] = points[index] as Point;
    const [bx, by] = points[before] as Point;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}
