import { createResource, For, Show } from "solid-js";
import { get } from "../../api/client.ts";
import type { Finding } from "../../api/shapes.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";
import "./system.css";

const RANK = { fail: 0, warn: 1, ok: 2 };
const LABEL = { fail: "Failed", warn: "Warning", ok: "OK" };
const TONE = { fail: "bad", warn: "warn", ok: "good" };

/** The checks of `sallyport doctor`: whether this host supports everything Sallyport needs. */
export default function SystemPage() {
  const [report, { refetch }] = createResource(() => get<{ ok: boolean; findings: Finding[] }>("/v1/machine"));
  const findings = () =>
    report.error ? [] : (report()?.findings ?? []).toSorted((a, b) => RANK[a.status] - RANK[b.status]);
  const bad = () => findings().filter(({ status }) => status === "fail").length;
  const warnings = () => findings().filter(({ status }) => status === "warn").length;
  return (
    <div class="page">
      <header class="page-head">
        <h1>System</h1>
        <p class="grow" role="status">
          <Show when={findings().length > 0} fallback={report.loading ? "Running checks…" : ""}>
            {bad() > 0 ? `${bad()} of ${findings().length} checks failed` : "No check failed"}
            {warnings() > 0 ? `, ${warnings()} ${warnings() === 1 ? "warning" : "warnings"}` : ""}
          </Show>
        </p>
        <button type="button" onClick={() => void refetch()} disabled={report.loading}>
          Re-check
        </button>
      </header>
      <Show when={report.error}>
        <ErrorNote error={report.error} />
      </Show>
      <ul class="card findings" aria-label="Checks">
        <For each={findings()}>
          {(finding) => (
            <li data-status={finding.status}>
              <span class={`tag ${TONE[finding.status]}`}>{LABEL[finding.status]}</span>
              <h2>
                <Shown text={finding.name} />
              </h2>
              <p>
                <Prose text={finding.message} />
                <Show when={finding.fix}>
                  {(fix) => (
                    <span class="fix">
                      <Prose text={fix()} />
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
