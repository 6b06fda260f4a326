import { createEffect, createSignal, on } from "solid-js";
import type { AuditEntry } from "../../../../src/core/audit.ts";
import { get } from "../../api/client.ts";
import { type AuditAsked, auditQuery } from "./filter.ts";

const PAGE = 100;
/** Entries kept in memory. Older ones can be found with a narrower filter. */
const MOST = 5000;

export interface Entries {
  all: () => AuditEntry[];
  loading: () => boolean;
  error: () => unknown;
  /** Whether older entries can be loaded. */
  more: () => boolean;
  loadMore(): Promise<void>;
  refresh(): Promise<void>;
}

/** Loads audit entries, newest first, one page at a time. */
export function createEntries(asked: () => AuditAsked): Entries {
  const [all, setAll] = createSignal<AuditEntry[]>([]);
  const [loading, setLoading] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  const [more, setMore] = createSignal(true);
  let question = 0;

  async function read(before: number | undefined): Promise<void> {
    const mine = ++question;
    setLoading(true);
    try {
      const query = { ...auditQuery(asked()), before, limit: PAGE };
      const { entries } = await get<{ entries: AuditEntry[] }>("/v1/audit", query);
      if (mine !== question) return;
      const kept = before === undefined ? [] : all();
      setAll([...kept, ...entries]);
      setMore(entries.length === PAGE && kept.length + entries.length < MOST);
      setError(null);
    } catch (failure) {
      if (mine === question) setError(failure);
    } finally {
      if (mine === question) setLoading(false);
    }
  }

  let typed = 0;
  createEffect(
    on(asked, () => {
      window.clearTimeout(typed);
      typed = window.setTimeout(() => void read(undefined), 150);
    }),
  );
  return {
    all,
    loading,
    error,
    more,
    loadMore: async () => {
      if (!loading() && more()) await read(all().at(-1)?.seq);
    },
    refresh: () => read(undefined),
  };
}
