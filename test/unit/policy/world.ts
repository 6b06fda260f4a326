import type { Verdict } from "../../../src/core/policy.ts";
import { type CheckOptions, check } from "../../../src/gateway/check.ts";
import type { Lookup } from "../../../src/shell/lookup.ts";

const PROGRAMS = new Set(
  "awk base64 cat chmod cp curl cut date dd env find git grep head ls make mv nice node npm python3 rm sed sort sudo tail tar tee timeout tr uniq wc xargs bash sh".split(
    " ",
  ),
);

export const LINKS: Record<string, string> = {
  "/home/user/ws/to-root": "/",
  "/home/user/ws/to-etc": "/etc",
  "/home/user/ws/innocent": "/usr/bin/sudo",
};

export const lookup: Lookup = {
  which(name, cwd) {
    if (!name.includes("/")) return PROGRAMS.has(name) ? `/usr/bin/${name}` : null;
    const full = name.startsWith("/") ? name : `${cwd}/${name.replace(/^\.\//, "")}`;
    if (LINKS[full]) return LINKS[full] ?? null;
    return full.startsWith("/usr/bin/") || full.startsWith("/bin/") ? full.replace(/^\/bin/, "/usr/bin") : null;
  },
  realpath(path) {
    for (const [link, real] of Object.entries(LINKS)) {
      if (path === link || path.startsWith(`${link}/`)) return `${real}${path.slice(link.length)}`.replace("//", "/");
    }
    return path;
  },
};

export const WORLD = { cwd: "/home/user/ws", workspace: "/home/user/ws", home: "/home/user", lookup };

export function checkCommand(command: string | string[], options: CheckOptions = {}): Verdict {
  return check(command, { ...WORLD, confined: true, ...options });
}

export function isStopped(verdict: Verdict): boolean {
  return verdict.verdict === "blocked" || verdict.verdict === "deny";
}
