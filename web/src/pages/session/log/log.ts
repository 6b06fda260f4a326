import { batch, createSignal, onCleanup } from "solid-js";
import { get } from "../../../api/client.ts";
import type { LogAnswer } from "../../../api/shapes.ts";
import { follow } from "./follow.ts";
import { joined, type Part, type Region, regionOf, trimmed } from "./region.ts";

export type LogStream = "merged" | "stdout" | "stderr";

const FIRST = 64 << 10;
const BLOCK = 128 << 10;
/** So much of a log is in memory at a time, whatever its size. */
const MOST = 512 << 10;
/** What lies before the place that is jumped to, so that one can look back at once. */
const LEAD = 8 << 10;

const NOTHING: Region = { from: 0, to: 0, parts: [] };

export interface Log {
  region: () => Region;
  total: () => number;
  loading: () => boolean;
  error: () => unknown;
  openAt(position: number): Promise<void>;
  openEnd(): Promise<void>;
  extend(side: "before" | "after"): Promise<void>;
  /** From now on what is written comes by itself, until it is told to stop. */
  startFollowing(): void;
  stopFollowing(): void;
}

/** One log, read in windows by byte offset: the first lines of a GiB come as soon as those of a KiB. */
export function createLog(id: string, stream: LogStream): Log {
  const [region, setRegion] = createSignal<Region>(NOTHING);
  const [total, setTotal] = createSignal(0);
  const [loading, setLoading] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  /** An answer to an older question is dropped. */
  let question = 0;
  let gone = false;
  let stop: (() => void) | null = null;

  const read = (offset: number, limit: number): Promise<LogAnswer> =>
    get<LogAnswer>(`/v1/sessions/${encodeURIComponent(id)}/logs`, { stream, offset: Math.floor(offset), limit });

  async function ask(take: () => Promise<LogAnswer>, use: (answer: LogAnswer) => Region): Promise<void> {
    const mine = ++question;
    setLoading(true);
    try {
      const answer = await take();
      if (mine !== question || gone) return;
      batch(() => {
        setError(null);
        setTotal(Math.max(answer.totalBytes, answer.nextOffset));
        setRegion(use(answer));
      });
    } catch (failure) {
      if (mine === question && !gone) setError(failure);
    } finally {
      if (mine === question) setLoading(false);
    }
  }

  const openAt = (position: number): Promise<void> =>
    ask(() => read(Math.max(0, position - LEAD), position === 0 ? FIRST : BLOCK), regionOf);

  /** The size is not known before the first answer; a read past the end tells it. */
  async function openEnd(): Promise<void> {
    const size = total() > 0 ? total() : (await read(Number.MAX_SAFE_INTEGER, 1).catch(() => null))?.totalBytes;
    await ask(() => read(Math.max(0, (size ?? 0) - FIRST), BLOCK), regionOf);
  }

  async function extend(side: "before" | "after"): Promise<void> {
    if (loading()) return;
    const now = region();
    if (side === "after" && now.to < total()) {
      await ask(
        () => read(now.to, BLOCK),
        (answer) => trimmed(joined(now, regionOf(answer)), MOST, "end"),
      );
    }
    if (side === "before" && now.from > 0) {
      const size = Math.min(BLOCK, now.from);
      await ask(
        () => read(now.from - size, size),
        (answer) => trimmed(joined(regionOf(answer), now), MOST, "start"),
      );
    }
  }

  function append(parts: Part[], end: number): void {
    const now = region();
    batch(() => {
      setTotal((size) => Math.max(size, end));
      // Somebody looks elsewhere: it is read when they come back.
      if (parts[0] && now.to === parts[0].position - parts[0].dropped) {
        setRegion(trimmed({ from: now.from, to: end, parts: [...now.parts, ...parts] }, MOST, "end"));
      }
    });
  }

  function startFollowing(): void {
    stop ??= follow(id, stream, () => region().to, append);
  }
  function stopFollowing(): void {
    stop?.();
    stop = null;
  }
  onCleanup(() => {
    gone = true;
    stopFollowing();
  });

  return { region, total, loading, error, openAt, openEnd, extend, startFollowing, stopFollowing };
}
