import { createEffect, createMemo, Match, onMount, Switch } from "solid-js";
import { handleKey } from "./keys/bindings.ts";
import { Layout } from "./layout.tsx";
import { connect, disconnect } from "./live/events.ts";
import { learnWhoIAm, me, nobodyYet } from "./live/me.ts";
import { SignIn } from "./sign-in.tsx";
import { linkSecret } from "./sign-in-link.ts";

export function App() {
  onMount(() => document.addEventListener("keydown", handleKey));
  // A link with a secret is used up first, whoever is signed in already.
  onMount(() => (linkSecret ? nobodyYet() : void learnWhoIAm()));
  const present = createMemo(() => Boolean(me()));
  createEffect(() => (present() ? connect() : disconnect()));
  return (
    <Switch>
      <Match when={me() === undefined}>
        <p class="centre muted" role="status">
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
