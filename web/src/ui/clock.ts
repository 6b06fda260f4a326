import { createSignal } from "solid-js";

/** The current time, updated every second. */
const [now, setNow] = createSignal(Date.now());
setInterval(() => setNow(Date.now()), 1000);

export { now };

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const OF_DAY = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
});

export const fullTime = (time: string | number): string => FULL.format(new Date(time));

export function timeOfDay(ms: number): string {
  return `${OF_DAY.format(ms)}.${String(Math.floor(ms % 1000)).padStart(3, "0")}`;
}
