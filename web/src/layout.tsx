import { createEffect, createMemo, For, type JSX, lazy, on, Show, Suspense } from "solid-js";
import { Dynamic } from "solid-js/web";
import { useKeys } from "./keys/bindings.ts";
import { KeyHelp, toggleHelp } from "./keys/help.tsx";
import { pending } from "./live/approvals.ts";
import { connection } from "./live/events.ts";
import { me, signOut } from "./live/me.ts";
import { SessionsPage } from "./pages/sessions/page.tsx";
import { go, route } from "./route.ts";
import { nextTheme, theme } from "./theme.ts";
import { Icon, type IconName } from "./ui/icon.tsx";
import { Mark } from "./ui/mark.tsx";

interface NavItem {
  page: string;
  name: string;
  icon: IconName;
  /** The key that opens the page after `g`. */
  key: string;
  body: () => JSX.Element;
  /** Hidden from callers with the role `agent`, which may only see their own sessions and approvals. */
  people?: true;
}

const NAVIGATION: NavItem[] = [
  { page: "sessions", name: "Sessions", icon: "sessions", key: "s", body: SessionsPage },
  {
    page: "approvals",
    name: "Approvals",
    icon: "approvals",
    key: "a",
    body: lazy(() => import("./pages/approvals/page.tsx")),
  },
  {
    page: "policy-check",
    name: "Policy check",
    icon: "check",
    key: "p",
    body: lazy(() => import("./pages/policy-check/page.tsx")),
  },
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
    page: "system",
    name: "System",
    icon: "machine",
    key: "y",
    body: lazy(() => import("./pages/system/page.tsx")),
    people: true,
  },
];

const SessionPage = lazy(() => import("./pages/session/page.tsx"));

export function Layout() {
  const items = () => NAVIGATION.filter(({ people }) => !people || me()?.role !== "agent");
  const current = () => NAVIGATION.find(({ page }) => page === route().page);
  const body = () => (route().page === "session" ? SessionPage : (current()?.body ?? SessionsPage));

  useKeys("Global", [
    ...NAVIGATION.map(({ key, name, page }) => ({
      keys: `g ${key}`,
      does: `Go to ${name}`,
      run: () => go(`#/${page}`),
    })),
    { keys: "?", does: "Show keyboard shortcuts", run: toggleHelp },
  ]);

  // The title shows the number of pending approvals, so that it is visible from another tab.
  createEffect(() => {
    const name = current()?.name ?? "Session";
    const count = pending().length;
    document.title = `${count > 0 ? `(${count}) ` : ""}${name} · Sallyport`;
  });

  // Moves the focus to the new page for people who use a screen reader. The page may then move it further.
  const page = createMemo(() => route().page);
  createEffect(on(page, () => document.getElementById("main")?.focus(), { defer: true }));

  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <nav class="site-nav" aria-label="Pages">
        <div class="brand">
          <Mark />
          <span>Sallyport</span>
        </div>
        <ul>
          <For each={items()}>
            {(item) => (
              <li>
                <a
                  href={`#/${item.page}`}
                  aria-current={isAt(item.page) ? "page" : undefined}
                  title={`${item.name} (g ${item.key})`}
                >
                  <Icon name={item.icon} />
                  <span>{item.name}</span>
                  <Show when={item.page === "approvals" && pending().length > 0}>
                    <span class="badge">
                      {pending().length}
                      <span class="unseen"> pending</span>
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
        <Suspense fallback={<p class="center muted">Loading…</p>}>
          <Dynamic component={body()} />
        </Suspense>
      </main>
      <KeyHelp />
    </div>
  );
}

const isAt = (page: string): boolean => route().page === page || (page === "sessions" && route().page === "session");

const CONNECTION = { connecting: "Connecting", live: "Live", waiting: "Reconnecting" };
const THEMES = { system: "system", light: "light", dark: "dark" };

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
          aria-label={`Theme: ${THEMES[theme()]}. Change theme`}
          title={`Theme: ${THEMES[theme()]}`}
          onClick={nextTheme}
        >
          <Icon name={theme()} />
        </button>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
          onClick={toggleHelp}
        >
          <Icon name="keys" />
        </button>
        <button
          type="button"
          class="quiet icon-only"
          aria-label="Sign out"
          title={`Sign out ${me()?.name} (${me()?.role})`}
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
