import { createSignal, onCleanup } from "solid-js";

/** A keyboard shortcut. */
export interface Binding {
  /** One key, a sequence of two ("g s"), or alternatives separated by " / ". */
  keys: string;
  /** Description for the help dialog. */
  does: string;
  run: (event: KeyboardEvent) => void;
}

export interface BindingGroup {
  title: string;
  bindings: Binding[];
}

const [groups, setGroups] = createSignal<BindingGroup[]>([]);

export { groups };

/** Registers shortcuts until the component is disposed. Groups registered later take precedence. */
export function useKeys(title: string, bindings: Binding[]): void {
  const group = { title, bindings };
  setGroups((all) => [...all, group]);
  onCleanup(() => setGroups((all) => all.filter((each) => each !== group)));
}

const SEQUENCE_MS = 1200;
let first = { key: "", at: 0 };

/** Reports whether the key was typed into a field or a terminal. */
function isMeantForField(event: KeyboardEvent): boolean {
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.closest("input, textarea, select, [data-takes-keys]") !== null;
}

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
  if (document.querySelector("dialog[open]") || isMeantForField(event)) return;
  const sequence = event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${event.key}` : "";
  const found = find(sequence) ?? find(event.key);
  first = { key: found ? "" : event.key, at: event.timeStamp };
  if (!found) return;
  // A focused link or button handles Enter and Space itself.
  if ((event.key === "Enter" || event.key === " ") && event.target instanceof HTMLElement && isControl(event.target))
    return;
  event.preventDefault();
  found.run(event);
}

const isControl = (element: HTMLElement): boolean => element.closest("a, button, summary, [role=button]") !== null;

function find(keys: string): Binding | undefined {
  if (keys === "") return undefined;
  for (const { bindings } of groups().toReversed()) {
    const found = bindings.find((binding) => binding.keys.split(" / ").includes(keys));
    if (found) return found;
  }
  return undefined;
}
