import { Show } from "solid-js";
import type { SessionInfo } from "../../../../../src/core/session.ts";
import { call } from "../../../api/client.ts";
import { go } from "../../../route.ts";
import { CommandText } from "../../../ui/command.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { createDeed } from "./do.ts";

export function RemoveDialog(props: { open: boolean; info: SessionInfo; onClose: () => void }) {
  const deed = createDeed(() => {
    props.onClose();
    go("#/sessions");
  });
  return (
    <Dialog title={`Remove ${props.info.name}`} open={props.open} onClose={props.onClose}>
      <pre class="block" tabIndex={0}>
        <CommandText command={props.info.command} args={props.info.args} />
      </pre>
      <p class="hint">This deletes the session with its output and recording. Its audit entries are kept.</p>
      <Show when={deed.error()}>
        <ErrorNote error={deed.error()} />
      </Show>
      <div class="dialog-foot">
        <button type="button" onClick={() => props.onClose()}>
          Cancel
        </button>
        <button
          type="button"
          class="danger solid"
          disabled={deed.busy()}
          onClick={() => deed.run(() => call("DELETE", `/v1/sessions/${encodeURIComponent(props.info.id)}`))}
        >
          Remove {props.info.name}
        </button>
      </div>
    </Dialog>
  );
}
