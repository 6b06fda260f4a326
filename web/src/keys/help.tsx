import { createSignal, For } from "solid-js";
import { Dialog } from "../ui/dialog.tsx";
import { groups } from "./bindings.ts";

const [isOpen, setOpen] = createSignal(false);
export const toggleHelp = (): void => {
  setOpen((open) => !open);
};

/** Lists the shortcuts that are active on the current page. */
export function KeyHelp() {
  return (
    <Dialog title="Keyboard shortcuts" open={isOpen()} onClose={() => setOpen(false)}>
      <div class="key-groups">
        <For each={groups().toReversed()}>
          {(group) => (
            <section>
              <h3>{group.title}</h3>
              <dl class="keys">
                <For each={group.bindings}>
                  {(binding) => (
                    <div>
                      <dt>
                        <For each={binding.keys.split(" / ")}>{(keys) => <Keys keys={keys} />}</For>
                      </dt>
                      <dd>{binding.does}</dd>
                    </div>
                  )}
                </For>
              </dl>
            </section>
          )}
        </For>
      </div>
    </Dialog>
  );
}

const NAMES: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

function Keys(props: { keys: string }) {
  return (
    <span class="key-sequence">
      <For each={props.keys.split(" ").filter(Boolean)}>{(key) => <kbd>{NAMES[key] ?? key}</kbd>}</For>
    </span>
  );
}
