/** Pieces of output as full-screen programs, shells and malicious programs write them. */
const PIECES: ((pick: (count: number) => number) => string)[] = [
  () => "some text",
  (pick) => "x".repeat(pick(50)),
  () => "\r\n",
  () => "\n",
  () => "\r",
  () => "\t",
  () => "\b",
  () => "日本",
  () => "e\u0301",
  () => "👩‍🚀",
  () => "Ω≈",
  (pick) => `\x1b[${pick(14)};${pick(44)}H`,
  (pick) => `\x1b[${pick(5)}A`,
  (pick) => `\x1b[${pick(50)}C`,
  (pick) => `\x1b[${pick(3)}J`,
  (pick) => `\x1b[${pick(3)}K`,
  (pick) => `\x1b[${pick(4)}L`,
  (pick) => `\x1b[${pick(4)}M`,
  (pick) => `\x1b[${pick(4)}P`,
  (pick) => `\x1b[${pick(4)}@`,
  (pick) => `\x1b[${pick(4)}S`,
  (pick) => `\x1b[${30 + pick(8)};4${pick(8)}m`,
  (pick) => `\x1b[38;5;${pick(256)}m`,
  (pick) => `\x1b[48;2;${pick(256)};10;20m`,
  () => "\x1b[1;3m",
  () => "\x1b[7m",
  () => "\x1b[0m",
  () => "\x1b[m",
  () => "\x1b[?25l",
  () => "\x1b[?25h",
  () => "\x1b[?1h",
  () => "\x1b[?1l",
  () => "\x1b[?2004h",
  () => "\x1b[?7l",
  () => "\x1b[?7h",
  () => "\x1b[?1049h",
  () => "\x1b[?1049l",
  (pick) => `\x1b[${1 + pick(4)};${6 + pick(4)}r`,
  () => "\x1b[r",
  () => "\x1b(0",
  () => "\x1b(B",
  () => "lqqk",
  () => "\x0e",
  () => "\x0f",
  () => "\x1bM",
  () => "\x1bD",
  () => "\x1b[4h",
  () => "\x1b[4l",
  () => "\x1b]2;a title\x07",
  () => "\x1b]0;another\x1b\\",
  () => "\x1bPsome device string\x1b\\",
];

export function randomOutput(pick: (limit: number) => number, count: number, without?: RegExp): Buffer {
  let text = "";
  for (let n = 0; n < count; n++) {
    const piece = (PIECES[pick(PIECES.length)] as (typeof PIECES)[number])(pick);
    if (!without?.test(piece)) text += piece;
  }
  return Buffer.from(text);
}
