import { createResource, For, Show } from "solid-js";
import { get } from "../../api/client.ts";
import type { Finding } from "../../api/shapes.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Shown } from "../../ui/shown.tsx";
import "./machine.css";

const RANK = { fail: 0, warn: 1, ok: 2 };
const WORD = { fail: "does not work", warn: "could be better", ok: "fine" };
const TONE = { fail: "bad", warn: "warn", ok: "good" };

/** What the doctor finds: can this machine do what is promised? */
export default function MachinePage() {
  const [report, { refetch }] = createResource(() => get<{ ok: boolean; findings: Finding[] }>("/v1/machine"));
  const findings = () =>
    report.error ? [] : (report()?.findings ?? []).toSorted((a, b) => RANK[a.status] - RANK[b.status]);
  const bad = () => findings().filter(({ status }) => status === "fail").length;
  const better = () => findings().filter(({ status }) => status === "warn").length;
  return (
    <div class="page">
      <header class="page-head">
        <h1>Machine</h1>
        <p class="grow" role="status">
          <Show when={findings().length > 0} fallback={report.loading ? "Looking…" : ""}>
            {bad() > 0
              ? `${bad()} of ${findings().length} checks failed`
              : `Everything Sallyport promises works here${better() > 0 ? `; ${better()} could be better` : ""}`}
          </Show>
        </p>
        <button type="button" onClick={() => void refetch()} disabled={report.loading}>
          Look again
        </button>
      </header>
      <Show when={report.error}>
        <ErrorNote error={report.error} />
      </Show>
      <ul class="card findings" aria-label="Findings">
        <For each={findings()}>
          {(finding) => (
            <li data-status={finding.status}>
              <span class={`tag ${TONE[finding.status]}`}>{WORD[finding.status]}</span>
              <h2>
                <Shown text={finding.name} />
              </h2>
              <p>
                <Shown text={finding.message} />
                <Show when={finding.fix}>
                  {(fix) => (
                    <span class="fix">
                      <Shown text={fix()} />
                    </span>
                  )}
                </Show>
              </p>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
