import { For, type JSX, Show } from "solid-js";
import { download } from "../../../api/client.ts";
import { Icon } from "../../../ui/icon.tsx";
import type { LogStream } from "./log.ts";
import type { LogSettings } from "./viewer.tsx";

const STREAMS: { stream: LogStream; name: string }[] = [
  { stream: "merged", name: "Both" },
  { stream: "stdout", name: "stdout" },
  { stream: "stderr", name: "stderr" },
];

export function LogTools(props: {
  id: string;
  apart: boolean;
  live: boolean;
  pinned: boolean;
  settings: LogSettings;
  onSettings: (next: Partial<LogSettings>) => void;
  onStart: () => void;
  onEnd: () => void;
  children: JSX.Element;
}) {
  const path = () => `/v1/sessions/${encodeURIComponent(props.id)}/logs/raw`;
  return (
    <div class="log-tools">
      <Show when={props.apart}>
        <div class="segments" role="group" aria-label="Stream">
          <For each={STREAMS}>
            {(each) => (
              <button
                type="button"
                data-stream={each.stream}
                aria-pressed={props.settings.stream === each.stream}
                onClick={() => props.onSettings({ stream: each.stream })}
              >
                {each.name}
              </button>
            )}
          </For>
        </div>
      </Show>
      {props.children}
      <div class="log-switches">
        <Toggle
          name="Wrap lines"
          hint="w"
          icon="wrap"
          on={props.settings.wrap}
          onClick={() => props.onSettings({ wrap: !props.settings.wrap })}
        />
        <Toggle
          name="Timestamps"
          hint="t"
          icon="clock"
          on={props.settings.times}
          onClick={() => props.onSettings({ times: !props.settings.times })}
        />
        <Toggle
          name="Control characters"
          hint="c"
          icon="eye"
          on={props.settings.raw}
          onClick={() => props.onSettings({ raw: !props.settings.raw })}
        />
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Go to start"
          title="Go to start (Home)"
          onClick={() => props.onStart()}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class={props.live ? "small" : "quiet icon-only"}
          aria-pressed={props.live ? props.pinned : undefined}
          aria-label={props.live ? "Follow" : "Go to end"}
          title={props.live ? "Follow output (f)" : "Go to end (End)"}
          onClick={() => props.onEnd()}
        >
          <Icon name="down" />
          <Show when={props.live}>Follow</Show>
        </button>
        <button type="button" class="small" onClick={() => void download(path(), { stream: props.settings.stream })}>
          <Icon name="file" />
          Download
        </button>
      </div>
    </div>
  );
}

function Toggle(props: {
  name: string;
  hint: string;
  icon: "wrap" | "clock" | "eye";
  on: boolean;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      class="quiet icon-only"
      aria-pressed={props.on}
      aria-label={props.name}
      title={`${props.name} (${props.hint})`}
      onClick={() => props.onClick()}
    >
      <Icon name={props.icon} />
    </button>
  );
}
