import type { Recovery, SallyportError } from "../core/error.ts";
import type { ExceededLimit } from "../core/launch.ts";
import type { ExitRecord } from "../executor/executor.ts";
import type { Lowered } from "../sandbox/limits.ts";
import { formatSize } from "../text/size.ts";

interface Exceeded {
  type: SallyportError["type"];
  message: string;
  recovery: Recovery[];
  details: Record<string, unknown>;
}

/** The setting's name, and its value as people say it. */
const LIMIT: Record<ExceededLimit["kind"], { key: string; shown: (value: number) => string }> = {
  memory: { key: "memoryBytes", shown: formatSize },
  processes: { key: "processes", shown: (value) => `${value} processes and threads` },
  disk: { key: "diskBytes", shown: (value) => `${formatSize(value)} written` },
  fileSize: { key: "fileSize", shown: (value) => `${formatSize(value)} a file` },
};

const LESS: Record<ExceededLimit["kind"], string> = {
  memory: "Make it use less memory: smaller batches, fewer workers at a time, streams instead of whole files.",
  processes: "Make it start fewer processes at a time, such as `make -j2` or a smaller pool of workers.",
  disk: "Make it write less, or to where nothing is kept: pipe it on instead of storing it.",
  fileSize: "Make it write smaller files, or split what it writes.",
};

/** Which limit ended a command, what it was and how far the command got. */
export function limitExceeded({ kind, value, peak }: ExceededLimit): Exceeded {
  const { key, shown } = LIMIT[kind];
  const reached = peak > 0 ? `; it got to ${shown(peak)}` : "";
  return {
    type: "ResourceLimitExceeded",
    message: `It exceeded its ${NAME[kind]} limit of ${shown(value)}${reached}, so it was ended with everything it had started.`,
    recovery: [
      { action: "increase_limits", hint: increase(kind, key) },
      { action: "optimize", hint: LESS[kind] },
    ],
    details: { limit: key, value, peak: peak > 0 ? peak : null },
  };
}

const NAME: Record<ExceededLimit["kind"], string> = {
  memory: "memory",
  processes: "process",
  disk: "disk",
  fileSize: "file size",
};

function increase(kind: ExceededLimit["kind"], key: string): string {
  const byOperator = `the operator can raise \`limits.${key}\` in sallyport.json.`;
  if (kind === "disk" || kind === "fileSize") return `If it needs more, ${byOperator}`;
  return `Ask for more, up to what is configured; ${byOperator}`;
}

/** A part of the tree met the limit, but the command itself ended by itself. */
export function limitNote({ kind, value }: ExceededLimit): string {
  return `processes it started exceeded the ${NAME[kind]} limit of ${LIMIT[kind].shown(value)} and were ended`;
}

const LOOSE: Record<NonNullable<ExitRecord["loose"]>[number], string> = {
  memory: "the memory limit was watched, not kept by the kernel: no memory cgroup can be had here",
  processes: "the process limit was watched, not kept by the kernel: no pids cgroup can be had here",
  cpu: "the cpu limit was not kept: no cpu cgroup can be had here",
};

/** For limits that this machine does not let us hand to the kernel. */
export function looseNotes(loose: ExitRecord["loose"]): string[] {
  return (loose ?? []).map((limit) => `${LOOSE[limit]} (see \`sallyport doctor\`)`);
}

/** For a request that asked for more than is configured. */
export function loweredNote({ limit, asked, given }: Lowered): string {
  const shown = limit === "memoryBytes" ? formatSize : String;
  return `limits.${limit} is ${shown(given)} here, not the ${shown(asked)} that were asked for`;
}
