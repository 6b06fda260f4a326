import { createSignal, For, Show } from "solid-js";
import type { SessionInfo } from "../../../../../src/core/session.ts";
import { formatDuration } from "../../../../../src/text/format.ts";
import { post } from "../../../api/client.ts";
import { Dialog } from "../../../ui/dialog.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { createDeed } from "./do.ts";

const MINUTE = 60_000;
const TERMS = [MINUTE, 10 * MINUTE, 60 * MINUTE, 8 * 60 * MINUTE, 0];

export function ExtendDialog(props: { open: boolean; info: SessionInfo; onClose: () => void }) {
  const [term, setTerm] = createSignal(10 * MINUTE);
  const deed = createDeed(() => props.onClose());
  const now = () =>
    props.info.timeoutMs === 0
      ? "The session has no deadline."
      : `The session was started with a timeout of ${formatDuration(props.info.timeoutMs)}.`;
  return (
    <Dialog title={`Change the deadline of ${props.info.name}`} open={props.open} onClose={props.onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          deed.run(() => post(`/v1/sessions/${encodeURIComponent(props.info.id)}/extend`, { timeoutMs: term() }));
        }}
      >
        <p class="hint">{now()} New deadline, counted from now:</p>
        <fieldset class="ways">
          <legend class="unseen">New deadline</legend>
          <For each={TERMS}>
            {(each) => (
              <label>
                <input type="radio" name="term" checked={term() === each} onChange={() => setTerm(each)} />
                <span>{each === 0 ? "No limit" : formatDuration(each).replace(/00[ms]$/, "")}</span>
              </label>
            )}
          </For>
        </fieldset>
        <Show when={deed.error()}>
          <ErrorNote error={deed.error()} />
        </Show>
        <div class="dialog-foot">
          <button type="button" onClick={() => props.onClose()}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={deed.busy()}>
            Change deadline
          </button>
        </div>
      </form>
    </Dialog>
  );
}
