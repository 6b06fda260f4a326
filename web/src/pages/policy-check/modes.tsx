import { For } from "solid-js";
import type { ModeOutcome } from "../../api/shapes.ts";
import { VERDICTS } from "./verdicts.ts";

const SECURITY = [
  { security: "full", name: "full", means: "Allow everything that no rule denies" },
  { security: "allowlist", name: "allowlist", means: "Allow only commands on the allowlist" },
  { security: "deny", name: "deny", means: "Allow nothing" },
] as const;
const ASK = [
  { ask: "off", name: "off", means: "Never require approval" },
  { ask: "on-miss", name: "on-miss", means: "Require approval instead of denying" },
  { ask: "always", name: "always", means: "Require approval for every command" },
] as const;

/** The verdict under each combination of `security` and `ask`. */
export function Modes(props: { modes: readonly ModeOutcome[] }) {
  const outcome = (security: string, ask: string) =>
    props.modes.find((mode) => mode.security === security && mode.ask === ask)?.verdict;
  return (
    <section class="card padded" aria-label="Verdict by mode">
      <h2>Verdict by mode</h2>
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
