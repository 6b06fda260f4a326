import { Dialog } from "../../../ui/dialog.tsx";
import { Shown } from "../../../ui/shown.tsx";

/** Shows the target of a link in a terminal before it is opened. */
export function LinkDialog(props: { target: string | null; onClose: () => void }) {
  const safe = () => props.target !== null && /^https?:\/\//i.test(props.target);
  return (
    <Dialog title="Open this link?" open={props.target !== null} onClose={props.onClose}>
      <p class="hint">A program printed this link. Its text may not match its address.</p>
      <pre class="block link-target" tabIndex={0}>
        <Shown text={props.target ?? ""} />
      </pre>
      <div class="dialog-foot">
        <button type="button" onClick={() => props.onClose()}>
          Cancel
        </button>
        {safe() && (
          <a
            class="button"
            href={props.target ?? "#"}
            target="_blank"
            rel="noopener noreferrer nofollow"
            onClick={() => props.onClose()}
          >
            Open link
          </a>
        )}
      </div>
    </Dialog>
  );
}
