import { readFileSync } from "node:fs";

/** Returns the type of the file system at a path without symbolic links, such as `ext4`. Null if it is unknown. */
export function fileSystemType(path: string): string | null {
  let best: { mount: string; type: string } | null = null;
  for (const line of readMounts().split("\n")) {
    const [place = "", rest = ""] = line.split(" - ");
    const mount = (place.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const contains = mount === "/" || path === mount || path.startsWith(`${mount}/`);
    // A later mount at the same place hides an earlier one.
    if (mount && contains && mount.length >= (best?.mount.length ?? 0))
      best = { mount, type: rest.split(" ")[0] ?? "" };
  }
  return best?.type || null;
}

function readMounts(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return ""; // Not Linux.
  }
}
