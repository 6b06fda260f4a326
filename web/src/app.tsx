import { createEffect, createMemo, Match, onMount, Switch } from "solid-js";
import { handleKey } from "./keys/bindings.ts";
import { Layout } from "./layout.tsx";
import { connect, disconnect } from "./live/events.ts";
import { loadMe, me, setSignedOut } from "./live/me.ts";
import { SignIn } from "./sign-in.tsx";
import { linkSecret } from "./sign-in-link.ts";

export function App() {
  onMount(() => document.addEventListener("keydown", handleKey));
  // A sign-in link takes precedence over an existing sign-in.
  onMount(() => (linkSecret ? setSignedOut() : void loadMe()));
  const signedIn = createMemo(() => Boolean(me()));
  createEffect(() => (signedIn() ? connect() : disconnect()));
  return (
    <Switch>
      <Match when={me() === undefined}>
        <p class="center muted" role="status">
          Loading…
        </p>
      </Match>
      <Match when={me() === null}>
        <SignIn />
      </Match>
      <Match when={me()}>
        <Layout />
      </Match>
    </Switch>
  );
}
