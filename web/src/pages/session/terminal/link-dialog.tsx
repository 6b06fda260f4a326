import { Dialog } from "../../../ui/dialog.tsx";
import { Shown } from "../../../ui/shown.tsx";

/** Where a link in a terminal truly leads, before anybody goes there. */
export function LinkDialog(props: { target: string | null; onClose: () => void }) {
  const safe = () => props.target !== null && /^https?:\/\//i.test(props.target);
  return (
    <Dialog title="Where this link leads" open={props.target !== null} onClose={props.onClose}>
      <p class="hint">A program wrote this link. Its text may have said something else.</p>
      <pre class="block link-target" tabIndex={0}>
        <Shown text={props.target ?? ""} />
      </pre>
      <div class="dialog-foot">
        <button type="button" onClick={() => props.onClose()}>
          Stay here
        </button>
        {safe() && (
          <a
            class="button"
            href={props.target ?? "#"}
            target="_blank"
            rel="noopener noreferrer nofollow"
            onClick={() => props.onClose()}
          >
            Open it
          </a>
        )}
      </div>
    </Dialog>
  );
}
