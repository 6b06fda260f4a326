import type { LaunchLimits } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { DEFAULTS } from "../core/settings.ts";
import { formatSize } from "../text/format.ts";

/** Returns the configured limits of one command. A process limit other than the default is enforced exactly. */
export function configuredLimits({ limits }: Pick<Settings, "limits">): LaunchLimits {
  const { processes, openFiles, fileSize, cpu, memoryBytes, diskBytes } = limits;
  const exactProcesses = processes !== DEFAULTS.limits.processes;
  return { processes, exactProcesses, openFiles, fileSize, cpu, memoryBytes, diskBytes };
}

/**
 * Applies requested limits, which can only tighten the configured ones (invariant 7). Returns `configured` itself if no
 * limits are requested.
 */
export function tightenLimits(configured: LaunchLimits, asked: RunRequest["limits"]): LaunchLimits {
  if (!asked) return configured;
  return {
    ...configured,
    processes: lowerOf(configured.processes, asked.processes),
    exactProcesses: configured.exactProcesses || asked.processes !== undefined,
    cpu: lowerOf(configured.cpu, asked.cpu),
    memoryBytes: lowerOf(configured.memoryBytes, asked.memoryBytes),
  };
}

function lowerOf(configured: number | null, asked: number | undefined): number | null {
  if (asked === undefined) return configured;
  return configured === null ? asked : Math.min(configured, asked);
}

interface ReducedLimit {
  limit: "cpu" | "memoryBytes" | "processes";
  asked: number;
  given: number;
}

/** The limits that a request can set. Surfaces have their own names for the parameters. */
const REDUCIBLE: Record<ReducedLimit["limit"], string> = {
  cpu: "CPU limit",
  memoryBytes: "memory limit",
  processes: "process limit",
};

/** Returns the limits that are lower than requested. */
export function reducedLimits(asked: RunRequest["limits"], given: LaunchLimits): ReducedLimit[] {
  return (["cpu", "memoryBytes", "processes"] as const).flatMap((limit) => {
    const [wanted, got] = [asked?.[limit], given[limit]];
    return wanted !== undefined && got !== null && got < wanted ? [{ limit, asked: wanted, given: got }] : [];
  });
}

/** Returns the warning for a requested limit that exceeds the configured one. */
export function reducedLimitWarning({ limit, asked, given }: ReducedLimit): string {
  const shown = limit === "memoryBytes" ? formatSize : String;
  return `the ${REDUCIBLE[limit]} was reduced from ${shown(asked)} to ${shown(given)}, the configured maximum`;
}
