/** Path functions that do not access the file system. */

/**
 * Returns the absolute path without `//`, `.`, `..` or a trailing slash. Null when it is relative and `cwd` is not
 * known.
 */
export function normalize(path: string, cwd: string | null): string | null {
  if (path === "") return null;
  const absolute = path.startsWith("/") ? path : cwd === null ? null : `${cwd}/${path}`;
  if (absolute === null) return null;
  if (!absolute.includes("//") && !absolute.includes("/.") && !absolute.endsWith("/")) return absolute;
  const kept: string[] = [];
  for (const part of absolute.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") kept.pop();
    else kept.push(part);
  }
  return `/${kept.join("/")}`;
}

export function basename(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Returns the name of a program without its version (`python3.12` to `python`). */
export function versionless(name: string): string {
  return name.replace(/[-.]?\d[\d.]*$/, "") || name;
}
