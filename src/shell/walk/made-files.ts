/** Follows the links that a text makes itself, which do not exist yet when the text is checked. */
import { limits } from "../limits.ts";
import { normalize } from "../path.ts";
import type { Walk } from "./walk.ts";
import { markUnknown } from "./walk.ts";

const MAX_HOPS = 16;

/**
 * Returns the path as the kernel resolves it: links that the text made are followed, and `..` leads to the parent of
 * the folder that a link points to. `last` says whether a link in the last component is followed, too.
 */
export function physicalPath(walk: Walk, path: string, last: boolean): string {
  const { made } = walk.state;
  if (made.size === 0 && !path.includes("/..")) return normalize(path, "/") ?? path;
  const pending = path.split("/").reverse();
  let done = "";
  let hops = 0;
  while (pending.length > 0) {
    const part = pending.pop() as string;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      const real = done === "" ? "" : (realPathOf(walk, done) ?? done);
      done = real.slice(0, Math.max(0, real.lastIndexOf("/")));
      continue;
    }
    done += `/${part}`;
    const link = made.get(done);
    const followed = link?.linked && (last || pending.some((rest) => rest !== "" && rest !== "."));
    if (!link || !followed || ++hops > MAX_HOPS) continue;
    pending.push(...link.original.split("/").reverse());
    done = "";
  }
  return done || "/";
}

/** Returns the original of a file that the text copied or linked, or of a file below such a folder. */
export function originalOf(walk: Walk, path: string): string | null {
  const { made } = walk.state;
  let found = path;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    let at = found.length;
    while (at > 0 && !made.has(found.slice(0, at))) at = found.lastIndexOf("/", at - 1);
    const file = at > 0 ? made.get(found.slice(0, at)) : undefined;
    if (!file) break;
    found = normalize(file.original + found.slice(at), "/") ?? found;
  }
  return found === path ? null : found;
}

/** Returns the path with the links on disk resolved. Null when it cannot be read. */
export function realPathOf(walk: Walk, path: string): string | null {
  const { links, context } = walk;
  // The kernel rejects longer paths, so there is no link to resolve.
  if (path.length > 4096) return null;
  const known = links.get(path);
  if (known !== undefined) return known;
  if (links.size >= limits.links) {
    markUnknown(walk, {
      span: { start: 0, end: walk.text.length },
      why: `the text uses more than ${limits.links} paths`,
    });
    return null;
  }
  const real = context.lookup.realpath(path);
  links.set(path, real);
  return real;
}
