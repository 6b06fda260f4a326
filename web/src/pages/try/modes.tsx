import { For } from "solid-js";
import type { ModeOutcome } from "../../api/shapes.ts";
import { VERDICTS } from "./words.ts";

const SECURITY = [
  { security: "full", name: "full", means: "all but what rules refuse" },
  { security: "allowlist", name: "allowlist", means: "what is on the list" },
  { security: "deny", name: "deny", means: "nothing" },
] as const;
const ASK = [
  { ask: "off", name: "off", means: "nobody is asked" },
  { ask: "on-miss", name: "on-miss", means: "a person, where it would be refused" },
  { ask: "always", name: "always", means: "a person, every time" },
] as const;

/** What each mode would do with it. */
export function Modes(props: { modes: readonly ModeOutcome[] }) {
  const outcome = (security: string, ask: string) =>
    props.modes.find((mode) => mode.security === security && mode.ask === ask)?.verdict;
  return (
    <section class="card padded" aria-label="What each mode would do">
      <h2>What each mode would do</h2>
      <div class="table-card" role="region" aria-label="Modes" tabIndex={0}>
        <table class="modes">
          <thead>
            <tr>
              <td />
              <For each={ASK}>
                {(ask) => (
                  <th scope="col" title={ask.means}>
                    ask: {ask.name}
                  </th>
                )}
              </For>
            </tr>
          </thead>
          <tbody>
            <For each={SECURITY}>
              {(security) => (
                <tr>
                  <th scope="row" title={security.means}>
                    security: {security.name}
                  </th>
                  <For each={ASK}>
                    {(ask) => {
                      const verdict = () => outcome(security.security, ask.ask);
                      return (
                        <td>
                          {(() => {
                            const known = verdict();
                            return known ? (
                              <span class={`tag ${VERDICTS[known].tone}`}>{VERDICTS[known].word}</span>
                            ) : (
                              "–"
                            );
                          })()}
                        </td>
                      );
                    }}
                  </For>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </section>
  );
}
