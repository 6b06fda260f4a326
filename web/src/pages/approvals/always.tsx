import { createSignal, For, onMount, Show } from "solid-js";
import type { Approval, Grantable, GrantScope } from "../../../../src/core/approval.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { Shown } from "../../ui/shown.tsx";

const HOUR = 3_600_000;
const TERMS: { name: string; ms: number | undefined }[] = [
  { name: "8 hours", ms: 8 * HOUR },
  { name: "1 day", ms: 24 * HOUR },
  { name: "7 days", ms: 7 * 24 * HOUR },
  { name: "30 days", ms: 30 * 24 * HOUR },
  { name: "for good", ms: undefined },
];

/** What a yes for good would allow, word for word, and for how long. */
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
      <h3>From now on, without asking</h3>
      <ul class="would-allow">
        <For each={targets()}>
          {(target) => (
            <li>
              <strong>
                <Shown text={props.approval.agent} />
              </strong>{" "}
              may run{" "}
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
              {target.piped ? ", also in a pipe" : ""}
              {args() ? ", with arguments like these" : ", with exactly these arguments"}
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
            Allow other arguments too
          </label>
        )}
      </Show>
      <Show when={patterns() !== null}>
        <label class="stacked">
          Arguments: <code>*</code> any text without a slash, <code>**</code> any further arguments
          <input
            class="mono"
            spellcheck={false}
            value={patterns() ?? ""}
            onInput={(event) => setPatterns(event.currentTarget.value)}
          />
        </label>
      </Show>
      <fieldset class="terms">
        <legend>For</legend>
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
          Allow {TERMS[term()]?.ms === undefined ? "for good" : `for ${TERMS[term()]?.name}`}
        </button>
        <button type="button" class="quiet" onClick={() => props.onCancel()}>
          Back
        </button>
      </div>
    </div>
  );
}
