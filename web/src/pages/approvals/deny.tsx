import { createSignal, onMount } from "solid-js";

const LONGEST = 2000;

export function DenyPanel(props: { onDeny: (reason: string) => void; onCancel: () => void }) {
  const [reason, setReason] = createSignal("");
  let field!: HTMLInputElement;
  onMount(() => field.focus());
  return (
    <form
      class="panel deny"
      onSubmit={(event) => {
        event.preventDefault();
        props.onDeny(reason().trim());
      }}
    >
      <label class="stacked">
        Reason (optional, shown to the agent)
        <input
          ref={field}
          maxLength={LONGEST}
          value={reason()}
          onInput={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && props.onCancel()}
        />
      </label>
      <div class="actions">
        <button type="submit" class="danger solid">
          Deny
        </button>
        <button type="button" class="quiet" onClick={() => props.onCancel()}>
          Cancel
        </button>
      </div>
    </form>
  );
}
