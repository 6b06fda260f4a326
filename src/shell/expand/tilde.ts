import type { Walk } from "../walk/walk.ts";

/** `~`, `~user`, `~+` and `~-` at the start of a word, and after `=` in something that looks like an assignment. */
export function tilde(
  walk: Walk,
  raw: string,
  value: string,
  mode: "word" | "value",
): { text: string; doubt: string | null } {
  if (!raw.includes("~")) return { text: value, doubt: null };
  const lead = /^([A-Za-z_][A-Za-z0-9_]*=)?~([^/:]*)/.exec(raw.replaceAll("\\\n", ""));
  if (!lead || (mode === "value" && lead[1])) return { text: value, doubt: null };
  const [whole, name = "", user = ""] = lead;
  if (/[\\'"$`]/.test(user)) return { text: value, doubt: null };
  const folder = folderOf(walk, user);
  const rest = value.slice(whole.length);
  return { text: name + (folder.path === "/" && rest.startsWith("/") ? "" : folder.path) + rest, doubt: folder.doubt };
}

function folderOf(walk: Walk, user: string): { path: string; doubt: string | null } {
  if (user === "") {
    const home = walk.state.variables.get("HOME");
    if (!home) return { path: walk.context.home, doubt: null };
    return home.kind === "text" ? { path: home.text, doubt: null } : { path: "/", doubt: "HOME was changed" };
  }
  if (user === "+") return { path: walk.state.cwd ?? ".", doubt: walk.state.cwd ? null : "an unknown folder" };
  if (user === "-") return { path: walk.state.previousCwd ?? ".", doubt: "the folder before this one" };
  if (user === "root") return { path: "/root", doubt: null };
  return { path: `/home/${user}`, doubt: "the home of another user" };
}
