import { createSignal } from "solid-js";

/** Runs one action at a time and keeps its error for display. Calls `after` when the action succeeds. */
export function createDeed(after: () => void): {
  busy: () => boolean;
  error: () => unknown;
  run: (deed: () => Promise<unknown>) => void;
  clear: () => void;
} {
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  async function run(deed: () => Promise<unknown>): Promise<void> {
    if (busy()) return;
    setBusy(true);
    setError(null);
    try {
      await deed();
      after();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, run: (deed) => void run(deed), clear: () => setError(null) };
}
