import { createEffect, createMemo, For, type JSX, lazy, on, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { useKeys } from "./keys/bindings.ts";
import { KeyHelp, toggleHelp } from "./keys/help.tsx";
import { pending } from "./live/approvals.ts";
import { connection } from "./live/events.ts";
import { me, signOut } from "./live/me.ts";
import { NowPage } from "./pages/now/page.tsx";
import { go, route } from "./route.ts";
import { nextTheme, theme } from "./theme.ts";
import { Icon, type IconName } from "./ui/icon.tsx";
import { Mark } from "./ui/mark.tsx";

interface Place {
  page: string;
  name: string;
  icon: IconName;
  key: string;
  body: () => JSX.Element;
  /** Not for an agent, which sees its own only. */
  people?: true;
}

const PLACES: Place[] = [
  { page: "now", name: "Now", icon: "now", key: "n", body: NowPage },
  {
    page: "approvals",
    name: "Approvals",
    icon: "approvals",
    key: "a",
    body: lazy(() => import("./pages/approvals/page.tsx")),
  },
  { page: "try", name: "Try", icon: "try", key: "t", body: lazy(() => import("./pages/try/page.tsx")) },
  {
    page: "audit",
    name: "Audit",
    icon: "audit",
    key: "u",
    body: lazy(() => import("./pages/audit/page.tsx")),
    people: true,
  },
  {
    page: "rules",
    name: "Rules",
    icon: "rules",
    key: "r",
    body: lazy(() => import("./pages/rules/page.tsx")),
    people: true,
  },
  {
    page: "machine",
    name: "Machine",
    icon: "machine",
    key: "m",
    body: lazy(() => import("./pages/machine/page.tsx")),
    people: true,
  },
];

const SessionPage = lazy(() => import("./pages/session/page.tsx"));

export function Layout() {
  const places = () => PLACES.filter(({ people }) => !people || me()?.role !== "agent");
  const body = () =>
    route().page === "session" ? SessionPage : (PLACES.find(({ page }) => page === route().page)?.body ?? NowPage);

  useKeys("Everywhere", [
    ...PLACES.map(({ key, name, page }) => ({ keys: `g ${key}`, does: `Go to ${name}`, run: () => go(`#/${page}`) })),
    { keys: "?", does: "Show these keys", run: toggleHelp },
  ]);

  // The number of those who wait is seen from another tab.
  createEffect(() => {
    const place = PLACES.find(({ page }) => page === route().page)?.name ?? "Session";
    const count = pending().length;
    document.title = `${count > 0 ? `(${count}) ` : ""}${place} · Sallyport`;
  });

  // Whoever cannot see the page change is led to the new one; a page may then lead them on to what matters in it.
  const page = createMemo(() => route().page);
  createEffect(on(page, () => document.getElementById("main")?.focus(), { defer: true }));

  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the page
      </button>
      <nav class="places" aria-label="Pages">
        <div class="brand">
          <Mark />
          <span>Sallyport</span>
        </div>
        <ul>
          <For each={places()}>
            {(place) => (
              <li>
                <a
                  href={`#/${place.page}`}
                  aria-current={isAt(place.page) ? "page" : undefined}
                  title={`${place.name} (g ${place.key})`}
                >
                  <Icon name={place.icon} />
                  <span>{place.name}</span>
                  <Show when={place.page === "approvals" && pending().length > 0}>
                    <span class="badge">
                      {pending().length}
                      <span class="unseen"> waiting</span>
                    </span>
                  </Show>
                </a>
              </li>
            )}
          </For>
        </ul>
        <Foot />
      </nav>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<p class="centre muted">Loading…</p>}>
          <Dynamic component={body()} />
        </Suspense>
      </main>
      <KeyHelp />
    </div>
  );
}

const isAt = (page: string): boolean => route().page === page || (page === "now" && route().page === "session");

const CONNECTION = { connecting: "Connecting", live: "Live", waiting: "Reconnecting" };
const THEMES = { system: "as the system", light: "light", dark: "dark" };

function Foot() {
  return (
    <div class="foot">
      <p class="connection" data-state={connection()} role="status">
        <span class="dot" />
        {CONNECTION[connection()]}
      </p>
      <div class="tools">
        <button
          type="button"
          class="quiet icon-only"
          aria-label={`Colours: ${THEMES[theme()]}. Change`}
          title={`Colours: ${THEMES[theme()]}`}
          onClick={nextTheme}
        >
          <Icon name={theme()} />
        </button>
        <button type="button" class="quiet icon-only" aria-label="Keys" title="Keys (?)" onClick={toggleHelp}>
          <Icon name="keys" />
        </button>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Sign out"
          title={`${me()?.name} (${me()?.role}). Sign out`}
          onClick={() => void signOut()}
        >
          <Icon name="out" />
        </button>
      </div>
      <p class="who">
        <strong>{me()?.name}</strong> {me()?.role}
      </p>
    </div>
  );
}
