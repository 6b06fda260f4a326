import type { LaunchLimits } from "../core/launch.ts";
import type { RunRequest } from "../core/request.ts";
import type { Settings } from "../core/settings.ts";
import { DEFAULTS } from "../core/settings.ts";
import { formatSize } from "../text/format.ts";

/** What the configuration says of one command. A limit that somebody chose is kept exactly, the default one loosely. */
export function configuredLimits({ limits }: Pick<Settings, "limits">): LaunchLimits {
  const { processes, openFiles, fileSize, cpu, memoryBytes, diskBytes } = limits;
  const exactProcesses = processes !== DEFAULTS.limits.processes;
  return { processes, exactProcesses, openFiles, fileSize, cpu, memoryBytes, diskBytes };
}

/** A request can only tighten (promise 7). The same object where it asks for nothing. */
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

/** Where less is given than was asked for. */
export function reducedLimits(asked: RunRequest["limits"], given: LaunchLimits): ReducedLimit[] {
  return (["cpu", "memoryBytes", "processes"] as const).flatMap((limit) => {
    const [wanted, got] = [asked?.[limit], given[limit]];
    return wanted !== undefined && got !== null && got < wanted ? [{ limit, asked: wanted, given: got }] : [];
  });
}

/** For a request that asked for more than is configured. */
export function reducedLimitWarning({ limit, asked, given }: ReducedLimit): string {
  const shown = limit === "memoryBytes" ? formatSize : String;
  return `limits.${limit} is ${shown(given)} here, not the ${shown(asked)} that were asked for`;
}
