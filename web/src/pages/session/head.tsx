import { For, Show } from "solid-js";
import type { ProcessInfo } from "../../../../src/core/gateway.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { formatDuration } from "../../../../src/text/format.ts";
import type { SessionDetails } from "../../api/shapes.ts";
import { now } from "../../ui/clock.ts";
import { Hints } from "../../ui/error-note.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Prose } from "../../ui/prose.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Status } from "../../ui/status.tsx";
import { Ago } from "../../ui/time.tsx";
import { Actions } from "./actions/actions.tsx";

/** The command of a session, its status and its actions. */
export function SessionHead(props: { info: SessionDetails; processes: readonly ProcessInfo[] }) {
  const text = () =>
    props.info.args === null ? props.info.command : quoteArgv([props.info.command, ...props.info.args]);
  const took = () =>
    props.info.status === "running"
      ? Math.floor((now() - Date.parse(props.info.startedAt)) / 1000) * 1000
      : (props.info.durationMs ?? 0);
  return (
    <header class="session-head">
      <div class="session-line">
        <a class="back" href="#/sessions" aria-label="Back to sessions">
          <Icon name="back" />
        </a>
        <h1>
          <Shown text={props.info.name} />
        </h1>
        <Status info={props.info} />
        <Actions info={props.info} processes={props.processes} />
      </div>
      <pre class="session-command" role="group" aria-label="Full command" tabIndex={0}>
        <Shown text={text()} lines />
      </pre>
      <p class="session-facts">
        <span>
          agent{" "}
          <strong>
            <Shown text={props.info.agent} />
          </strong>
        </span>
        <span>
          started <Ago at={props.info.startedAt} /> ago
        </span>
        <span>
          {props.info.endedAt === null ? "running for" : "duration"} {formatDuration(Math.max(0, took()))}
        </span>
        <span>
          sandbox{" "}
          <strong>
            <Shown text={props.info.sandbox} />
          </strong>
        </span>
        <span>
          in{" "}
          <code>
            <Shown text={props.info.cwd} />
          </code>
        </span>
      </p>
      <Show when={props.info.intent}>
        {(intent) => (
          <p class="session-intent">
            <span class="hint">Intent (agent's claim, unverified):</span>{" "}
            <q>
              <Shown text={intent()} />
            </q>
          </p>
        )}
      </Show>
      <Show when={props.info.approval?.status === "pending" && props.info.approval}>
        {(approval) => (
          <p class="note warn">
            Waiting for approval. <a href={`#/approvals/${approval().id}`}>Review the request</a>
          </p>
        )}
      </Show>
      {/* The error of a pending session only tells the agent to wait for the approval. */}
      <Show when={props.info.status !== "pending" && props.info.error}>
        {(error) => (
          <div class="note bad">
            <p>
              <Prose text={error().message} />
            </p>
            <Show when={error().recovery.length > 0}>
              <p class="hint">Suggested to the agent:</p>
              <Hints recovery={error().recovery} />
            </Show>
          </div>
        )}
      </Show>
      <For each={props.info.warnings}>
        {(warning) => (
          <p class="note warn">
            <Prose text={warning} />
          </p>
        )}
      </For>
    </header>
  );
}
