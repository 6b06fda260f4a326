import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from "solid-js";
import type { GrantTarget } from "../../../../src/core/approval.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { post } from "../../api/client.ts";
import type { TriedRule } from "../../api/shapes.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FolderField } from "../../ui/folder-field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";
import { createDeed } from "../session/actions/do.ts";
import { splitArguments } from "./split-arguments.ts";

const TYPING_MS = 200;
const HOUR = 3_600_000;
const TERMS = [
  { name: "8 hours", ms: 8 * HOUR },
  { name: "7 days", ms: 168 * HOUR },
  { name: "30 days", ms: 720 * HOUR },
  { name: "No expiry", ms: 0 },
];

/** A form that creates a grant without an approval request. It shows what the grant would allow while it is typed. */
export function AddRule(props: { onAdded: () => void }) {
  const [command, setCommand] = createSignal("");
  const [patterns, setPatterns] = createSignal("");
  const [agent, setAgent] = createSignal("default");
  const [cwd, setCwd] = createSignal("");
  const [term, setTerm] = createSignal(8 * HOUR);
  const [examples, setExamples] = createSignal("");
  const [tried, setTried] = createSignal<TriedRule | null>(null);
  const [failure, setFailure] = createSignal<unknown>(null);
  let timer = 0;
  let question = 0;

  const rule = createMemo(() => ({
    agent: agent().trim(),
    command: splitArguments(command()),
    ...(cwd().trim() !== "" && { cwd: cwd().trim() }),
    ...(patterns().trim() !== "" && { args: splitArguments(patterns()) }),
    ...(term() > 0 && { expiresMs: term() }),
  }));
  const ready = () => rule().command.length > 0 && rule().agent !== "";
  const lines = createMemo(() =>
    [command(), ...examples().split("\n")]
      .map((line) => line.trim())
      .filter(Boolean)
      .slice(0, 50),
  );

  async function attempt(): Promise<void> {
    const mine = ++question;
    if (!ready()) return void setTried(null);
    try {
      const answer = await post<TriedRule>("/v1/rules/try", { rule: rule(), commands: lines() });
      if (mine !== question) return;
      setTried(answer);
      setFailure(null);
    } catch (error) {
      if (mine === question) setFailure(error);
    }
  }
  createEffect(
    on([rule, lines], () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void attempt(), TYPING_MS);
    }),
  );
  onCleanup(() => window.clearTimeout(timer));
  const deed = createDeed(() => {
    setCommand("");
    setPatterns("");
    setExamples("");
    props.onAdded();
  });

  return (
    <details class="card add-rule">
      <summary>
        <h2>Add a grant</h2>
      </summary>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (ready()) deed.run(() => post("/v1/rules", rule()));
        }}
      >
        <label class="stacked wide">
          Program and arguments
          <input
            class="mono"
            spellcheck={false}
            placeholder="git fetch origin"
            value={command()}
            onInput={(event) => setCommand(event.currentTarget.value)}
          />
        </label>
        <label class="stacked wide">
          Argument patterns (optional; leave empty to allow exactly these arguments)
          <input
            class="mono"
            spellcheck={false}
            placeholder="fetch *"
            value={patterns()}
            onInput={(event) => setPatterns(event.currentTarget.value)}
          />
        </label>
        <label class="stacked">
          Agent
          <input spellcheck={false} value={agent()} onInput={(event) => setAgent(event.currentTarget.value)} />
        </label>
        <FolderField class="stacked" value={cwd()} onInput={setCwd} />
        <label class="stacked">
          Duration
          <select value={term()} onChange={(event) => setTerm(Number(event.currentTarget.value))}>
            <For each={TERMS}>{(each) => <option value={each.ms}>{each.name}</option>}</For>
          </select>
        </label>
        <label class="stacked wide">
          Example commands to test, one per line
          <textarea
            class="mono"
            rows={3}
            spellcheck={false}
            value={examples()}
            onInput={(event) => setExamples(event.currentTarget.value)}
          />
        </label>
        <div class="wide" aria-live="polite">
          <Show when={tried()}>{(known) => <Tried tried={known()} patterns={rule().args ?? null} />}</Show>
        </div>
        <Show when={deed.error() ?? failure()}>
          <div class="wide">
            <ErrorNote error={deed.error() ?? failure()} />
          </div>
        </Show>
        <div class="actions wide">
          <button type="submit" class="primary" disabled={!ready() || deed.busy() || tried()?.problem !== null}>
            Add grant
          </button>
        </div>
      </form>
    </details>
  );
}

function Tried(props: { tried: TriedRule; patterns: readonly string[] | null }) {
  const target = ({ executable, args }: GrantTarget) =>
    props.patterns ? `${quoteArgv([executable])} ${props.patterns.join(" ")}` : quoteArgv([executable, ...args]);
  return (
    <div class="tried">
      <Show when={props.tried.problem}>
        {(problem) => (
          <p class="note bad">
            <Prose text={problem()} />
          </p>
        )}
      </Show>
      <Show when={props.tried.covers.length > 0}>
        <p>
          Would allow{" "}
          <For each={props.tried.covers}>
            {(each) => (
              <>
                <code>
                  <Shown text={target(each)} />
                </code>{" "}
                in{" "}
                <code>
                  <Shown text={each.cwd} />
                </code>
              </>
            )}
          </For>
        </p>
      </Show>
      <ul>
        <For each={props.tried.results}>
          {(result) => (
            <li data-covered={result.covered}>
              <Icon name={result.covered ? "ok" : "close"} />
              <code>
                <Shown text={result.command} />
              </code>
              <span class="hint">
                <Prose text={result.why} />
              </span>
            </li>
          )}
        </For>
      </ul>
    </div>
  );
}
