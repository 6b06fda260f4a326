import { batch, createSignal, onCleanup } from "solid-js";
import { get } from "../../../api/client.ts";
import type { LogAnswer } from "../../../api/shapes.ts";
import { follow } from "./follow.ts";
import { joined, type Part, type Region, regionOf, trimmed } from "./region.ts";

export type LogStream = "merged" | "stdout" | "stderr";

const FIRST = 64 << 10;
const BLOCK = 128 << 10;
/** Maximum number of bytes of a log kept in memory. */
const MOST = 512 << 10;
/** Bytes loaded before the position that the log is opened at, so that scrolling back a little needs no request. */
const LEAD = 8 << 10;

/** Bytes kept while following. Less than `MOST`, because every update renders all of them again. */
const FOLLOWED = 160 << 10;
/** When more bytes than this arrive at once, the view skips to the end. */
const FLOOD = 384 << 10;
const SKIP_MS = 200;

const NOTHING: Region = { from: 0, to: 0, parts: [] };

export interface Log {
  region: () => Region;
  total: () => number;
  loading: () => boolean;
  error: () => unknown;
  openAt(position: number): Promise<void>;
  openEnd(): Promise<void>;
  /** Updates the total size. */
  learnTotal(): Promise<void>;
  extend(side: "before" | "after"): Promise<void>;
  /** Appends new output as it is written, until `stopFollowing`. */
  startFollowing(): void;
  stopFollowing(): void;
}

/** Opens a log that is read in windows by byte offset, so that its size does not affect the time to the first line. */
export function createLog(id: string, stream: LogStream): Log {
  const [region, setRegion] = createSignal<Region>(NOTHING);
  const [total, setTotal] = createSignal(0);
  const [loading, setLoading] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  /** Number of the latest request. Responses to older requests are ignored. */
  let question = 0;
  let gone = false;
  let stop: (() => void) | null = null;
  let pursuit = 0;

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

  async function learnTotal(): Promise<void> {
    const answer = await read(Number.MAX_SAFE_INTEGER, 1).catch(() => null);
    if (!gone && answer) setTotal((known) => Math.max(known, answer.totalBytes));
  }

  /** Opens the log at its end. Reads past the end first, which returns the current size. */
  const openEnd = (): Promise<void> =>
    ask(async () => {
      const { totalBytes } = await read(Number.MAX_SAFE_INTEGER, 1);
      return read(Math.max(0, totalBytes - FIRST), BLOCK);
    }, regionOf);

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
    const { from, to, parts: known } = region();
    const fresh = parts.filter((part) => part.position + part.bytes > to);
    const begins = fresh[0] ? fresh[0].position - fresh[0].dropped : end;
    if (fresh.length === 0) return;
    if (begins !== to || end - begins > FLOOD) return void skipAhead();
    batch(() => {
      setTotal((size) => Math.max(size, end));
      setRegion(trimmed({ from, to: end, parts: [...known, ...fresh] }, FOLLOWED, "end"));
    });
  }

  /** Handles output that arrives too fast to display: waits a moment, then continues from the end of the log. */
  async function skipAhead(): Promise<void> {
    stopFollowing();
    const mine = ++pursuit;
    await new Promise((resolve) => setTimeout(resolve, SKIP_MS));
    if (gone || mine !== pursuit) return;
    await openEnd();
    if (!gone && mine === pursuit) startFollowing();
  }

  function startFollowing(): void {
    stop ??= follow(id, stream, region().to, append);
  }
  function stopFollowing(): void {
    pursuit += 1;
    const end = stop;
    stop = null;
    end?.();
  }
  onCleanup(() => {
    gone = true;
    stopFollowing();
  });

  return { region, total, loading, error, openAt, openEnd, learnTotal, extend, startFollowing, stopFollowing };
}
