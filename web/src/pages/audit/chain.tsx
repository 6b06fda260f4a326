import { createSignal, Match, Show, Switch } from "solid-js";
import type { ChainReport } from "../../../../src/storage/audit-chain.ts";
import { get } from "../../api/client.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Shown } from "../../ui/shown.tsx";

/** Verifies the audit log on request. Each entry contains the hash of the previous one. */
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
    <section class="card chain" aria-label="Integrity">
      <div class="chain-words" role="status">
        <Switch
          fallback={<p class="muted">The log is tamper-evident: each entry contains the hash of the previous one.</p>}
        >
          <Match when={busy()}>
            <p>Verifying all entries…</p>
          </Match>
          <Match when={report()?.broken}>
            {(broken) => (
              <p class="broken">
                <Icon name="warn" /> Verification failed at entry {broken().seq}: <Shown text={broken().why} />. The{" "}
                {report()?.entries} entries before it are intact.
              </p>
            )}
          </Match>
          <Match when={report()}>
            {(sound) => (
              <>
                <p class="sound">
                  <Icon name="ok" /> Verified: all {sound().entries} entries are intact.
                </p>
                <p class="hint">
                  To detect truncation later, save this elsewhere: entry {sound().head.seq}, hash{" "}
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
        Verify
      </button>
    </section>
  );
}
