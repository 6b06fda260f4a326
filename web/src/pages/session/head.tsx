import { For, Show } from "solid-js";
import type { ProcessInfo } from "../../../../src/core/gateway.ts";
import { quoteArgv } from "../../../../src/shell/quote.ts";
import { formatDuration } from "../../../../src/text/format.ts";
import type { SessionDetails } from "../../api/shapes.ts";
import { now } from "../../ui/clock.ts";
import { Icon } from "../../ui/icon.tsx";
import { Shown } from "../../ui/shown.tsx";
import { Status } from "../../ui/status.tsx";
import { Ago } from "../../ui/time.tsx";
import { Actions } from "./actions/actions.tsx";

/** Which command it is and how it stands, above everything else there is to see of it. */
export function SessionHead(props: { info: SessionDetails; processes: readonly ProcessInfo[] }) {
  const text = () =>
    props.info.args === null ? props.info.command : quoteArgv([props.info.command, ...props.info.args]);
  const took = () =>
    props.info.endedAt === null
      ? Math.floor((now() - Date.parse(props.info.startedAt)) / 1000) * 1000
      : props.info.durationMs;
  return (
    <header class="session-head">
      <div class="session-line">
        <a class="back" href="#/now" aria-label="Back to what runs now">
          <Icon name="back" />
        </a>
        <h1>
          <Shown text={props.info.name} />
        </h1>
        <Status info={props.info} />
        <Actions info={props.info} processes={props.processes} />
      </div>
      <pre class="session-command" role="group" aria-label="The whole command" tabIndex={0}>
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
          {props.info.endedAt === null ? "runs for" : "took"} {formatDuration(Math.max(0, took()))}
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
            <span class="hint">The agent says:</span>{" "}
            <q>
              <Shown text={intent()} />
            </q>
          </p>
        )}
      </Show>
      <Show when={props.info.approval?.status === "pending" && props.info.approval}>
        {(approval) => (
          <p class="note warn">
            It waits for a person. <a href={`#/approvals/${approval().id}`}>See the request and decide</a>
          </p>
        )}
      </Show>
      <Show when={props.info.error}>
        {(error) => (
          <div class="note bad">
            <p>
              <Shown text={error().message} />
            </p>
            <ul>
              <For each={error().recovery}>
                {({ hint }) => (
                  <li>
                    <Shown text={hint} />
                  </li>
                )}
              </For>
            </ul>
          </div>
        )}
      </Show>
      <For each={[...props.info.warnings, ...props.info.hints]}>
        {(warning) => (
          <p class="note warn">
            <Shown text={warning} />
          </p>
        )}
      </For>
    </header>
  );
}
