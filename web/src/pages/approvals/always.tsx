import { createSignal, For, onMount, Show } from "solid-js";
import type { Approval, Grantable, GrantScope } from "../../../../src/core/approval.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { Shown } from "../../ui/shown.tsx";

const HOUR = 3_600_000;
export const TERMS: { name: string; ms: number | undefined }[] = [
  { name: "8 hours", ms: 8 * HOUR },
  { name: "1 day", ms: 24 * HOUR },
  { name: "7 days", ms: 7 * 24 * HOUR },
  { name: "30 days", ms: 30 * 24 * HOUR },
  { name: "No expiry", ms: undefined },
];

/** Shows exactly what a grant would allow, and lets the approver choose its arguments and duration. */
export function AlwaysPanel(props: { approval: Approval; onAllow: (grant: GrantScope) => void; onCancel: () => void }) {
  const [term, setTerm] = createSignal(0);
  const [patterns, setPatterns] = createSignal<string | null>(null);
  const targets = () => (props.approval.request.always as Extract<Grantable, { ok: true }>).commands;
  const single = () => (targets().length === 1 ? targets()[0] : undefined);
  const args = () => patterns()?.split(/\s+/).filter(Boolean) ?? null;
  let panel!: HTMLDivElement;
  onMount(() => panel.querySelector<HTMLElement>("input")?.focus());

  const allow = (): void => {
    const expiresMs = TERMS[term()]?.ms;
    const wanted = args();
    props.onAllow({ ...(wanted && { args: wanted }), ...(expiresMs !== undefined && { expiresMs }) });
  };

  return (
    <div class="panel always" ref={panel}>
      <h3>Allow without further approval</h3>
      <ul class="would-allow">
        <For each={targets()}>
          {(target) => (
            <li>
              <strong>
                <Shown text={props.approval.agent} />
              </strong>{" "}
              can run{" "}
              <code>
                <Shown
                  text={
                    args() && single()
                      ? `${quoteArgv([target.executable])} ${patterns()}`
                      : quoteArgv([target.executable, ...target.args])
                  }
                />
              </code>{" "}
              in{" "}
              <code>
                <Shown text={target.cwd} />
              </code>
              {target.piped ? ", including in a pipeline" : ""}
              {args() ? ", with arguments that match these patterns" : ", with exactly these arguments"}
            </li>
          )}
        </For>
      </ul>
      <Show when={single()}>
        {(target) => (
          <label class="check">
            <input
              type="checkbox"
              checked={patterns() !== null}
              onChange={(event) => setPatterns(event.currentTarget.checked ? target().args.join(" ") : null)}
            />
            Allow other arguments
          </label>
        )}
      </Show>
      <Show when={patterns() !== null}>
        <label class="stacked">
          <span>
            Argument patterns: <code>*</code> matches any text without a slash, and a final <code>**</code> matches all
            remaining arguments
          </span>
          <input
            class="mono"
            spellcheck={false}
            value={patterns() ?? ""}
            onInput={(event) => setPatterns(event.currentTarget.value)}
          />
        </label>
      </Show>
      <fieldset class="terms">
        <legend>Duration</legend>
        <For each={TERMS}>
          {(each, index) => (
            <label>
              <input type="radio" name="term" checked={term() === index()} onChange={() => setTerm(index())} />
              {each.name}
            </label>
          )}
        </For>
      </fieldset>
      <div class="actions">
        <button type="button" class="primary" onClick={allow}>
          {TERMS[term()]?.ms === undefined ? "Allow permanently" : `Allow for ${TERMS[term()]?.name}`}
        </button>
        <button type="button" class="quiet" onClick={() => props.onCancel()}>
          Cancel
        </button>
      </div>
    </div>
  );
}
