import { createSignal } from "solid-js";

/** One thing at a time, with its failure kept for showing. */
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
