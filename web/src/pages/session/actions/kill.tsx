import { createSignal, For, Show } from "solid-js";
import type { ProcessInfo } from "../../../../../src/core/gateway.ts";
import type { SessionInfo } from "../../../../../src/core/session.ts";
import { post } from "../../../api/client.ts";
import { CommandText } from "../../../ui/command.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { Shown } from "../../../ui/shown.tsx";
import { treeOf } from "../usage/tree.ts";
import { createDeed } from "./do.ts";

const WAYS: { id: string; name: string; does: string; body: object; ends: boolean }[] = [
  {
    id: "end",
    name: "Stop",
    does: "SIGTERM, then SIGKILL after 5 s",
    body: { signal: "SIGTERM", graceMs: 5000 },
    ends: true,
  },
  {
    id: "kill",
    name: "Kill",
    does: "SIGKILL, without cleanup",
    body: { signal: "SIGKILL", graceMs: 0 },
    ends: true,
  },
  {
    id: "int",
    name: "Interrupt",
    does: "SIGINT, like Ctrl-C",
    body: { signal: "SIGINT", graceMs: null },
    ends: false,
  },
  { id: "hup", name: "Hang up", does: "SIGHUP", body: { signal: "SIGHUP", graceMs: null }, ends: false },
  {
    id: "stop",
    name: "Pause",
    does: "SIGSTOP, until resumed",
    body: { signal: "SIGSTOP", graceMs: null },
    ends: false,
  },
  { id: "cont", name: "Resume", does: "SIGCONT", body: { signal: "SIGCONT", graceMs: null }, ends: false },
];

/** Sends a signal to a session. Lists the command and all its processes first. */
export function KillDialog(props: {
  open: boolean;
  info: SessionInfo;
  processes: readonly ProcessInfo[];
  onClose: () => void;
}) {
  const [way, setWay] = createSignal("end");
  const [reason, setReason] = createSignal("");
  const chosen = () => WAYS.find(({ id }) => id === way()) ?? (WAYS[0] as (typeof WAYS)[number]);
  const deed = createDeed(() => props.onClose());
  const send = (): void =>
    deed.run(() =>
      post(`/v1/sessions/${encodeURIComponent(props.info.id)}/signal`, {
        ...chosen().body,
        ...(reason().trim() !== "" && { reason: reason().trim() }),
      }),
    );
  return (
    <Dialog title={`Stop or signal ${props.info.name}`} open={props.open} onClose={props.onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div class="victim">
          <p>
            <strong>
              <Shown text={props.info.agent} />
            </strong>{" "}
            is running
          </p>
          <pre class="block" tabIndex={0}>
            <CommandText command={props.info.command} args={props.info.args} />
          </pre>
          <Show when={props.processes.length > 0}>
            <p>
              {props.processes.length} {props.processes.length === 1 ? "process" : "processes"}{" "}
              {chosen().ends ? "will be stopped:" : "will receive the signal:"}
            </p>
            <ul class="victims" tabIndex={0}>
              <For each={treeOf(props.processes)}>
                {({ process, depth }) => (
                  <li>
                    <span class="branch" aria-hidden="true">
                      {depth > 0 ? `${"  ".repeat(depth - 1)}└ ` : ""}
                    </span>
                    <code>
                      <Shown text={process.command} />
                    </code>{" "}
                    <span class="muted">{process.pid}</span>
                  </li>
                )}
              </For>
            </ul>
          </Show>
        </div>
        <fieldset class="ways">
          <legend class="unseen">Action</legend>
          <For each={WAYS}>
            {(each) => (
              <label>
                <input type="radio" name="way" checked={way() === each.id} onChange={() => setWay(each.id)} />
                <span>
                  {each.name} <span class="hint">{each.does}</span>
                </span>
              </label>
            )}
          </For>
        </fieldset>
        <label class="stacked">
          Reason (optional, recorded in the audit log)
          <input value={reason()} maxLength={500} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
        <Show when={deed.error()}>
          <ErrorNote error={deed.error()} />
        </Show>
        <div class="dialog-foot">
          <button type="button" onClick={() => props.onClose()}>
            Cancel
          </button>
          <button type="submit" class={chosen().ends ? "danger solid" : "primary"} disabled={deed.busy()}>
            {chosen().name} {props.info.name}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
