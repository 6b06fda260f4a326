const FIRST_MS = 1000;
const LONGEST_MS = 15 * 60 * 1000;

/** How long to wait after so many attempts: twice as long each time, up to a quarter of an hour, and never in step. */
export function backoffMs(attempts: number, random: number = Math.random()): number {
  const whole = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  return Math.round(whole / 2 + (whole / 2) * random);
}
