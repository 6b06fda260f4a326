import { createSignal, Show } from "solid-js";
import type { ProcessInfo } from "../../../../../src/core/gateway.ts";
import type { SessionInfo } from "../../../../../src/core/session.ts";
import { useKeys } from "../../../keys/bindings.ts";
import { may } from "../../../live/me.ts";
import { Icon } from "../../../ui/icon.tsx";
import { ExtendDialog } from "./extend.tsx";
import { KillDialog } from "./kill.tsx";
import { RemoveDialog } from "./remove.tsx";

type Open = "none" | "kill" | "extend" | "remove";

/** Actions on a session for operators. Each opens a dialog that states its effect and asks for confirmation. */
export function Actions(props: { info: SessionInfo; processes: readonly ProcessInfo[] }) {
  const [open, setOpen] = createSignal<Open>("none");
  const live = () => props.info.status === "running" || props.info.lingering;
  const close = () => setOpen("none");
  useKeys("Session actions", [
    {
      keys: "x",
      does: "Stop or signal (asks for confirmation)",
      run: () => may("operator") && live() && setOpen("kill"),
    },
    {
      keys: "e",
      does: "Change the deadline",
      run: () => may("operator") && props.info.status === "running" && setOpen("extend"),
    },
  ]);
  return (
    <Show when={may("operator")}>
      <div class="actions session-actions">
        <Show
          when={live()}
          fallback={
            <button type="button" class="small" onClick={() => setOpen("remove")}>
              Remove…
            </button>
          }
        >
          <Show when={props.info.status === "running"}>
            <button type="button" class="small" onClick={() => setOpen("extend")}>
              <Icon name="clock" />
              Deadline…
            </button>
          </Show>
          <button type="button" class="small danger" onClick={() => setOpen("kill")}>
            <Icon name="stop" />
            Stop…
          </button>
        </Show>
      </div>
      <KillDialog open={open() === "kill"} info={props.info} processes={props.processes} onClose={close} />
      <ExtendDialog open={open() === "extend"} info={props.info} onClose={close} />
      <RemoveDialog open={open() === "remove"} info={props.info} onClose={close} />
    </Show>
  );
}
