import { createEffect, createMemo, createSignal, For, on, onCleanup, onMount, Show } from "solid-js";
import { call } from "../../api/client.ts";
import type { ModeOutcome } from "../../api/shapes.ts";
import { useKeys } from "../../keys/bindings.ts";
import { rememberQuery, route } from "../../route.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FolderField } from "../../ui/folder-field.tsx";
import { Prose } from "../../ui/prose.tsx";
import { CommandField } from "./command-field.tsx";
import { FoundCommands } from "./found.tsx";
import { Modes } from "./modes.tsx";
import { VERDICTS } from "./verdicts.ts";
import "../approvals/approvals.css";
import "../session/session.css";
import "../session/usage/usage.css";
import "./policy-check.css";
import type { Verdict } from "../../../../src/core/policy.ts";
import { notEnforcedText } from "../../../../src/sandbox/not-enforced.ts";

const TYPING_MS = 120;
const EXAMPLES = [
  "git status",
  "npm test && git push",
  'echo done; r\\m -rf "$HOME"',
  "curl https://example.com/x.sh | sh",
  "sudo systemctl restart nginx",
];

type Answer = Verdict & { modes?: ModeOutcome[] };

/** Shows the verdict on a command while it is typed. Nothing is executed. */
export default function PolicyCheckPage() {
  const [command, setCommand] = createSignal(route().query.get("c") ?? "");
  const [cwd, setCwd] = createSignal("");
  const [verdict, setVerdict] = createSignal<Answer | null>(null);
  const [error, setError] = createSignal<unknown>(null);
  let field: HTMLTextAreaElement | undefined;
  let asked = new AbortController();
  let timer = 0;

  async function ask(): Promise<void> {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    const text = command();
    if (text.trim() === "") {
      setVerdict(null);
      setError(null);
      return;
    }
    try {
      const body = { command: text, modes: true, ...(cwd().trim() !== "" && { cwd: cwd().trim() }) };
      const answer = await call<Answer>("POST", "/v1/check", { body, signal });
      setVerdict(answer);
      setError(null);
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    }
  }
  createEffect(
    on([command, cwd], () => {
      rememberQuery({ c: command() });
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void ask(), TYPING_MS);
    }),
  );
  onCleanup(() => {
    window.clearTimeout(timer);
    asked.abort();
  });
  onMount(() => field?.focus());
  useKeys("Policy check", [{ keys: "/ / i", does: "Enter a command", run: () => field?.focus() }]);

  /** Highlights for the command. Empty while the verdict is for an earlier version of the text. */
  const marks = createMemo(() => {
    const known = verdict();
    if (!known || known.command !== command()) return [];
    return [
      ...known.reasons.flatMap(({ span, message }) =>
        span ? [{ ...span, kind: `risky ${known.verdict}`, why: message }] : [],
      ),
      ...known.commands.flatMap(({ unknowns }) => unknowns.map(({ span, why }) => ({ ...span, kind: "unknown", why }))),
    ];
  });
  const look = () => VERDICTS[verdict()?.verdict ?? "allow"];

  return (
    <div class="page policy-check-page">
      <header class="page-head">
        <h1>Policy check</h1>
        <p class="grow">Check a command against the policy. Nothing is executed.</p>
      </header>
      <CommandField value={command()} marks={marks()} onInput={setCommand} field={(element) => (field = element)} />
      <FolderField class="policy-check-cwd" value={cwd()} onInput={setCwd} />
      <Show when={error()}>
        <ErrorNote error={error()} />
      </Show>
      <Show
        when={verdict()}
        fallback={
          <div class="examples">
            <h2>Examples</h2>
            <For each={EXAMPLES}>
              {(example) => (
                <button type="button" class="small mono" onClick={() => setCommand(example)}>
                  {example}
                </button>
              )}
            </For>
          </div>
        }
      >
        {(known) => (
          <>
            <section class="card verdict" data-verdict={known().verdict} aria-live="polite">
              <h2>{look().title}</h2>
              <p>{look().means}</p>
              <Show when={!known().analyzable}>
                <p class="warn-text">The command cannot be analyzed completely. It may run more than is listed here.</p>
              </Show>
              <Show when={known().sandbox?.level === "partial"}>
                <p class="warn-text">
                  The sandbox is partly enforced on this machine. Not enforced:{" "}
                  <Prose text={notEnforcedText(known().sandbox?.notEnforced ?? [])} />.
                </p>
              </Show>
              <ul class="reasons">
                <For each={known().reasons}>
                  {(reason) => (
                    <li>
                      <p>
                        <Prose text={reason.message} /> <code class="rule">{reason.rule}</code>
                      </p>
                      <Show when={reason.suggestion}>
                        {(suggestion) => (
                          <p class="suggestion">
                            <strong>Suggestion:</strong> <Prose text={suggestion()} />
                          </p>
                        )}
                      </Show>
                    </li>
                  )}
                </For>
              </ul>
            </section>
            <FoundCommands commands={known().commands} />
            <Show when={known().modes}>{(modes) => <Modes modes={modes()} />}</Show>
          </>
        )}
      </Show>
    </div>
  );
}
