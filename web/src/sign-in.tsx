import { createSignal, onMount, Show } from "solid-js";
import { signIn } from "./live/me.ts";
import { linkSecret } from "./sign-in-link.ts";
import { ErrorNote } from "./ui/error-note.tsx";
import { Mark } from "./ui/mark.tsx";

/** Whether the link has been tried. A link works once, so trying it again after a sign-out would only show an error. */
let used = false;

export function SignIn() {
  const [secret, setSecret] = createSignal("");
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>(null);
  let field: HTMLInputElement | undefined;

  async function enter(given: string): Promise<void> {
    if (given === "" || busy()) return;
    setBusy(true);
    setError(null);
    try {
      await signIn(given);
      if (location.pathname !== "/") history.replaceState(null, "", `/${location.hash}`);
    } catch (failure) {
      setError(failure);
      field?.focus();
    } finally {
      setBusy(false);
    }
  }

  onMount(() => {
    document.title = "Sign in · Sallyport";
    field?.focus();
    if (linkSecret && !used) void enter(linkSecret);
    used = true;
  });

  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void enter(secret().trim());
        }}
      >
        <Mark />
        <h1>Sallyport</h1>
        <p class="muted">Sign in to supervise your agents.</p>
        <label for="secret">One-time secret or token</label>
        <input
          id="secret"
          ref={field}
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={secret()}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={busy()}>
          {busy() ? "Signing in…" : "Sign in"}
        </button>
        <Show when={error()}>
          <ErrorNote error={error()} />
        </Show>
        <p class="hint">
          <code>sallyport serve</code> prints a one-time sign-in link. <code>sallyport token create</code> creates a
          reusable token.
        </p>
      </form>
    </main>
  );
}
