import { createSignal } from "solid-js";

export type Theme = "system" | "light" | "dark";

const ORDER: Theme[] = ["system", "light", "dark"];
const KEY = "sallyport-theme";

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return ORDER.find((theme) => theme === value) ?? "system";
}

const [theme, setTheme] = createSignal<Theme>(stored());
const systemDark = matchMedia("(prefers-color-scheme: dark)");
const [systemIsDark, setSystemIsDark] = createSignal(systemDark.matches);
systemDark.addEventListener("change", ({ matches }) => setSystemIsDark(matches));

export { theme };

/** Reports whether the page is dark. Charts need it: colors on a canvas do not follow the theme. */
export const isDark = (): boolean => (theme() === "system" ? systemIsDark() : theme() === "dark");

export function applyTheme(): void {
  const root = document.documentElement;
  if (theme() === "system") delete root.dataset.theme;
  else root.dataset.theme = theme();
}

export function nextTheme(): void {
  setTheme((now) => ORDER[(ORDER.indexOf(now) + 1) % ORDER.length] as Theme);
  localStorage.setItem(KEY, theme());
  applyTheme();
}
