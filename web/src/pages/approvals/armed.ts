import { createEffect, createSignal, onCleanup } from "solid-js";

/** So long a request is in sight, in a window that has the focus, before a key or a click decides it. */
export const LOOK_MS = 500;

/**
 * A key press that was meant for something else must not decide: what just appeared, or just came back into sight,
 * listens only after a moment; and only once the end of the command was seen (promise 2).
 */
export function useArmed(id: () => string, endSeen: () => boolean): () => boolean {
  const [ready, setReady] = createSignal(false);
  let timer = 0;
  const begin = (): void => {
    window.clearTimeout(timer);
    setReady(false);
    if (document.visibilityState === "visible") timer = window.setTimeout(() => setReady(true), LOOK_MS);
  };
  createEffect(() => {
    id();
    begin();
  });
  window.addEventListener("focus", begin);
  document.addEventListener("visibilitychange", begin);
  onCleanup(() => {
    window.clearTimeout(timer);
    window.removeEventListener("focus", begin);
    document.removeEventListener("visibilitychange", begin);
  });
  return () => ready() && endSeen();
}
