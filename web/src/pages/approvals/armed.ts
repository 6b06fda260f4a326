import { createEffect, createSignal, onCleanup } from "solid-js";

/** How long a request must be visible before a key press or a click can decide it, in milliseconds. */
export const LOOK_MS = 500;

/**
 * Reports whether the request can be decided. A key press meant for something else must not decide a request, so a
 * request cannot be decided until it has been visible for `LOOK_MS` and the end of its command has been in view
 * (invariant 2).
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
