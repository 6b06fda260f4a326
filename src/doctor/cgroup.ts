import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Finding, ok, warn } from "./finding.ts";
import { isWritable } from "./state-folder.ts";

const KINDS = ["memory", "cpu", "pids"] as const;
type Kind = (typeof KINDS)[number];

interface Place {
  version: 1 | 2;
  /** The group this process is in. */
  folder: string;
}

/** Where a command's memory, processors and processes can be limited as a whole, and why not where they cannot. */
export function checkCgroup(): Finding {
  const places = KINDS.map((kind) => ({ kind, place: placeOf(kind) }));
  const missing = places.filter(({ place }) => place === null).map(({ kind }) => kind);
  const closed = places.flatMap(({ kind, place }) => (place && !isWritable(place.folder) ? [{ kind, ...place }] : []));
  const had = places.filter(({ kind, place }) => place && !closed.some((one) => one.kind === kind));
  const versions = [...new Set(had.map(({ place }) => place?.version))].map((version) => `v${version}`).join(" and ");
  const kept = had.length === 0 ? "" : `${versions}: ${had.map(({ kind }) => kind).join(", ")}`;
  if (missing.length === 0 && closed.length === 0) return ok("cgroup", kept);
  const [first] = closed;
  const lacking = [...missing, ...closed.map(({ kind }) => kind)].join(", ");
  const consequence = `${kept ? `${kept}; ` : ""}no ${lacking}: those limits are watched, and cpu is not kept`;
  if (first) {
    const where = `${first.folder} is not ours`;
    const fix =
      first.version === 2
        ? "Have it delegated: `systemd-run --user --scope -p Delegate=yes …`."
        : `Have it handed over: \`chown\` a group below ${first.folder} and start Sallyport in it.`;
    return warn("cgroup", `${consequence} (${where})`, fix);
  }
  return warn("cgroup", consequence, "Use a kernel with these controllers, mounted on /sys/fs/cgroup.");
}

function placeOf(kind: Kind): Place | null {
  const own = read("/proc/self/cgroup");
  let first: Place | null = null;
  for (const line of read("/proc/self/mountinfo").split("\n")) {
    const [place = "", rest = ""] = line.split(" - ");
    const mount = place.split(" ")[4] ?? "";
    const [type, , options = ""] = rest.split(" ");
    if (type === "cgroup2") {
      const folder = join(mount, /^0::(.*)$/m.exec(own)?.[1] ?? "/");
      if (read(join(folder, "cgroup.controllers")).split(/\s/).includes(kind)) return { version: 2, folder };
    } else if (type === "cgroup" && options.split(",").includes(kind)) {
      const path = own.split("\n").find((each) => each.split(":")[1]?.split(",").includes(kind)) ?? "";
      first = { version: 1, folder: join(mount, path.split(":")[2] ?? "/") };
    }
  }
  return first;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
