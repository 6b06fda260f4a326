import { createSignal, onCleanup } from "solid-js";

/** A key, or two one after the other ("g n"), and what it does, for the keyboard and for the overlay that explains it. */
export interface Binding {
  keys: string;
  does: string;
  run: (event: KeyboardEvent) => void;
}

export interface BindingGroup {
  title: string;
  bindings: Binding[];
}

const [groups, setGroups] = createSignal<BindingGroup[]>([]);

export { groups };

/** For as long as the component lives. Later groups win. */
export function useKeys(title: string, bindings: Binding[]): void {
  const group = { title, bindings };
  setGroups((all) => [...all, group]);
  onCleanup(() => setGroups((all) => all.filter((each) => each !== group)));
}

const SEQUENCE_MS = 1200;
let first = { key: "", at: 0 };

/** Keys typed into a field or a terminal are text; with Ctrl, Alt or Meta they are the browser's. */
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
  // A link or button in focus answers Enter and Space itself.
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
