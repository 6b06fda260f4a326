import { createSignal, Match, Show, Switch } from "solid-js";
import type { ChainReport } from "../../../../src/storage/audit-chain.ts";
import { get } from "../../api/client.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Shown } from "../../ui/shown.tsx";

/** Whether the log is still what was written: every entry covers the one before it. */
export function Chain() {
  const [report, setReport] = createSignal<ChainReport | null>(null);
  const [error, setError] = createSignal<unknown>(null);
  const [busy, setBusy] = createSignal(false);
  async function verify(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      setReport(await get<ChainReport>("/v1/audit/verify"));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  }
  return (
    <section class="card chain" aria-label="The chain">
      <div class="chain-words" role="status">
        <Switch fallback={<p class="muted">Each entry covers the one before it. Has any been changed or taken out?</p>}>
          <Match when={busy()}>
            <p>Checking every entry…</p>
          </Match>
          <Match when={report()?.broken}>
            {(broken) => (
              <p class="broken">
                <Icon name="warn" /> Broken at entry {broken().seq}: <Shown text={broken().why} />. {report()?.entries}{" "}
                entries before it are right.
              </p>
            )}
          </Match>
          <Match when={report()}>
            {(sound) => (
              <>
                <p class="sound">
                  <Icon name="ok" /> All {sound().entries} entries are as they were written.
                </p>
                <p class="hint">
                  Note this down elsewhere, to hold the log to it later: entry {sound().head.seq},{" "}
                  <code>{sound().head.hash}</code>
                </p>
              </>
            )}
          </Match>
        </Switch>
        <Show when={error()}>
          <ErrorNote error={error()} />
        </Show>
      </div>
      <button type="button" onClick={() => void verify()} disabled={busy()}>
        Verify the chain
      </button>
    </section>
  );
}
