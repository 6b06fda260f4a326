import { createSignal, Show } from "solid-js";
import type { Grant } from "../../../../src/core/approval.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { call } from "../../api/client.ts";
import { may } from "../../live/me.ts";
import { now } from "../../ui/clock.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Ago, Until } from "../../ui/time.tsx";
import { createDeed } from "../session/actions/do.ts";

export function grantCommand({ executable, args }: Grant): string {
  return args.kind === "exact"
    ? quoteArgv([executable, ...args.values])
    : [quoteArgv([executable]), ...args.patterns].join(" ");
}

export function GrantRow(props: { grant: Grant; onChanged: () => void }) {
  const [asking, setAsking] = createSignal(false);
  const grant = () => props.grant;
  const isActive = () => status().word === "active";
  const deed = createDeed(() => {
    setAsking(false);
    props.onChanged();
  });
  const status = (): { word: string; tone: string } => {
    const { revokedAt, expiresAt, current } = grant();
    if (revokedAt !== null) return { word: "revoked", tone: "" };
    if (expiresAt !== null && Date.parse(expiresAt) <= now()) return { word: "expired", tone: "" };
    return current ? { word: "active", tone: "good" } : { word: "program changed", tone: "warn" };
  };
  return (
    <tr data-over={!isActive()}>
      <td class="grant-what">
        <code>
          <Shown text={grantCommand(grant())} />
        </code>
        <span class="hint">
          in <Shown text={grant().cwd} />
          {grant().piped ? ", including in a pipeline" : ""}
        </span>
      </td>
      <td>
        <Shown text={grant().agent} />
      </td>
      <td>
        <span class={`tag ${status().tone}`}>{status().word}</span>
        <Show when={isActive()}>
          <span class="hint">
            <Show when={grant().expiresAt} fallback="no expiry">
              {(at) => (
                <>
                  expires in <Until at={at()} />
                </>
              )}
            </Show>
          </span>
        </Show>
      </td>
      <td>
        <Show when={grant().lastUsedAt} fallback={<span class="muted">never</span>}>
          {(at) => (
            <>
              <Ago at={at()} /> ago
            </>
          )}
        </Show>
      </td>
      <td>
        <Shown text={grant().createdBy} />
      </td>
      <td>
        <Show when={may("approver") && grant().revokedAt === null}>
          <button
            type="button"
            class="small danger"
            aria-label={`Revoke ${grantCommand(grant())}`}
            onClick={() => setAsking(true)}
          >
            Revoke
          </button>
          <Dialog title="Revoke this grant?" open={asking()} onClose={() => setAsking(false)}>
            <pre class="block" tabIndex={0}>
              <Shown text={grantCommand(grant())} />
            </pre>
            <p class="hint">
              Without this grant, <Shown text={grant().agent} /> needs approval to run this command. Commands that are
              already running continue.
            </p>
            <Show when={deed.error()}>
              <ErrorNote error={deed.error()} />
            </Show>
            <div class="dialog-foot">
              <button type="button" onClick={() => setAsking(false)}>
                Cancel
              </button>
              <button
                type="button"
                class="danger solid"
                disabled={deed.busy()}
                onClick={() => deed.run(() => call("DELETE", `/v1/grants/${encodeURIComponent(grant().id)}`))}
              >
                Revoke
              </button>
            </div>
          </Dialog>
        </Show>
      </td>
    </tr>
  );
}
