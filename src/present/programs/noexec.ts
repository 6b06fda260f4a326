import { readFileSync } from "node:fs";

export const MOUNTINFO = "/proc/self/mountinfo";

/** The mount point a path lies under, when nothing on it may be executed; null otherwise, or when it cannot be told. */
export function noexecMount(path: string, mountinfo: string = MOUNTINFO): string | null {
  let found = { point: "", options: "" };
  for (const line of read(mountinfo).split("\n")) {
    // id, parent, device, root, mount point, options; see proc(5).
    const [, , , , escaped = "", options = ""] = line.split(" ");
    const point = escaped.replace(/\\([0-7]{3})/g, (_, octal: string) =>
      String.fromCharCode(Number.parseInt(octal, 8)),
    );
    const holds = point === "/" || path === point || path.startsWith(`${point}/`);
    // Of two mounts on one point the later covers the earlier.
    if (point !== "" && holds && point.length >= found.point.length) found = { point, options };
  }
  return found.options.split(",").includes("noexec") ? found.point : null;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
