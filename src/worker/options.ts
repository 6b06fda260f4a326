import type { FleetOptions } from "../core/settings.ts";
import type { GatewayOptions } from "../gateway/options.ts";

export interface WorkerOptions extends Pick<GatewayOptions, "state" | "policy" | "configuration"> {
  fleet: FleetOptions;
  labels?: Record<string, string>;
  /** Commands at a time; default four for each processor. */
  slots?: number;
  /** Where the folders of workspaces are made. */
  workspaces: string;
  /** Put logs by on the servers when a session ends, so that they outlive this machine. */
  shipLogs?: boolean;
  /** On how many servers what is kept there is; null: three where there are three. */
  replicas?: number | null;
}
