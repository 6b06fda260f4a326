import { createResource, For, Show } from "solid-js";
import type { Grant } from "../../../../src/core/approval.ts";
import { get } from "../../api/client.ts";
import type { RulesAnswer } from "../../api/shapes.ts";
import { may } from "../../live/me.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { AddRule } from "./add.tsx";
import { BuiltIn } from "./built-in.tsx";
import { Configured } from "./configured.tsx";
import { GrantRow } from "./grant-row.tsx";
import "../approvals/approvals.css";
import "../session/session.css";
import "../session/usage/usage.css";
import "./rules.css";

const HEADS = ["Command", "Agent", "Status", "Last used", "Granted by", ""];

/** Standing grants, configured rules and built-in rules. */
export default function RulesPage() {
  const [rules, { refetch }] = createResource(() => get<RulesAnswer>("/v1/rules"));
  const [grants, { refetch: readGrants }] = createResource(() => get<{ grants: Grant[] }>("/v1/grants", { all: true }));
  const known = () => (rules.error ? undefined : rules.latest);
  const list = () => (grants.error ? [] : (grants.latest?.grants ?? []).toSorted(byUse));
  const changed = (): void => {
    void refetch();
    void readGrants();
  };
  return (
    <div class="page">
      <header class="page-head">
        <h1>Rules and grants</h1>
        <Show when={known()}>
          {(all) => (
            <p class="grow modes-now">
              security <strong>{all().configured.security}</strong> · ask <strong>{all().configured.ask}</strong> ·
              sandbox <strong>{all().configured.sandbox}</strong>
            </p>
          )}
        </Show>
      </header>
      <Show when={rules.error ?? grants.error}>
        <ErrorNote error={rules.error ?? grants.error} />
      </Show>
      <section class="rules-section" aria-labelledby="grants">
        <h2 id="grants">Standing grants</h2>
        <Show
          when={list().length > 0}
          fallback={
            <p class="card nothing">
              No standing grants. Create one with “Always allow” on an approval request, or below.
            </p>
          }
        >
          <div class="card table-card" role="region" aria-label="Grants" tabIndex={0}>
            <table class="grants">
              <thead>
                <tr>
                  <For each={HEADS}>
                    {(head) => <th scope="col">{head === "" ? <span class="unseen">Revoke</span> : head}</th>}
                  </For>
                </tr>
              </thead>
              <tbody>
                <For each={list()}>{(grant) => <GrantRow grant={grant} onChanged={changed} />}</For>
              </tbody>
            </table>
          </div>
        </Show>
      </section>
      <Show when={may("operator")}>
        <AddRule onAdded={changed} />
      </Show>
      <Show when={known()}>
        {(all) => (
          <>
            <Configured configured={all().configured} />
            <BuiltIn rules={all().builtIn} />
          </>
        )}
      </Show>
    </div>
  );
}

/** Orders active grants first, then by creation time, newest first. */
function byUse(a: Grant, b: Grant): number {
  const ended = Number(isOver(a)) - Number(isOver(b));
  return ended !== 0 ? ended : a.createdAt < b.createdAt ? 1 : -1;
}

const isOver = ({ revokedAt, expiresAt }: Grant): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now());
