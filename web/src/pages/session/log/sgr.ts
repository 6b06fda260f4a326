/** A text style. Colors are an index into the palette of 16, or `#rrggbb`. */
export interface Pen {
  fg: number | string | null;
  bg: number | string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

export const PLAIN: Pen = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

const SWITCHES: Record<number, Partial<Pen>> = {
  0: PLAIN,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { fg: null },
  49: { bg: null },
};

/** Returns the style after `ESC [ parameters m`. Conceal (8) is ignored, so that all output can be read. */
export function afterSgr(pen: Pen, parameters: string): Pen {
  // ESC[38:2::r:g:bm has an empty color space parameter that ESC[38;2;r;g;bm lacks.
  const codes = parameters.replaceAll("::", ":").split(/[;:]/).map(Number);
  let now = pen;
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { color, used } = extended(codes.slice(at + 1));
      now = code === 38 ? { ...now, fg: color } : { ...now, bg: color };
      at += used;
    } else now = { ...now, ...(SWITCHES[code] ?? color(code)) };
  }
  return now;
}

function color(code: number): Partial<Pen> {
  if (code >= 30 && code <= 37) return { fg: code - 30 };
  if (code >= 90 && code <= 97) return { fg: code - 82 };
  if (code >= 40 && code <= 47) return { bg: code - 40 };
  if (code >= 100 && code <= 107) return { bg: code - 92 };
  return {};
}

function extended([kind, ...rest]: number[]): { color: number | string | null; used: number } {
  if (kind === 5) return { color: indexed(byte(rest[0])), used: 2 };
  if (kind === 2) return { color: hex(byte(rest[0]), byte(rest[1]), byte(rest[2])), used: 4 };
  return { color: null, used: 1 };
}

const byte = (value: number | undefined): number => Math.max(0, Math.min(255, Math.trunc(value ?? 0) || 0));

/** Returns a color of the 256-color palette: 16 named colors, a 6 x 6 x 6 cube, and grays. */
function indexed(index: number): number | string {
  if (index < 16) return index;
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return hex(gray, gray, gray);
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

const hex = (...parts: number[]): string => `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
