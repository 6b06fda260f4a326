import type { ConfigFile } from "../config/schema.ts";
import { SallyportError } from "../core/error.ts";
import type { ApprovalCallback, GatewayEvent, Retention } from "../core/gateway.ts";
import type { FleetGatewayOptions } from "../core/settings.ts";
import { nearest } from "../text/nearest.ts";

/** How a gateway is opened. */
export interface GatewayOptions {
  /** State folder; see the command line's `--state` for the default. */
  state?: string;
  /** Where commands run unless they say otherwise; default the current folder. */
  workspace?: string;
  /** Who is asking; sessions belong to an agent. Default "default". */
  agent?: string;
  /** "power-loss" flushes the exit record to disk before anyone is told; costs a disk flush a command. */
  durability?: "process" | "power-loss";
  retention?: Partial<Retention>;
  /** Settings as in sallyport.json: as good as the operator's word, and later. */
  policy?: ConfigFile;
  /** The operator's configuration file; null reads none. Default `$XDG_CONFIG_HOME/sallyport/sallyport.json`. */
  configuration?: string | null;
  /** Asks a person, where a command needs one. Without it they decide elsewhere (`sallyport approvals`). */
  approve?: ApprovalCallback;
  /** Told of starts, refusals and approval requests as they happen. */
  onEvent?: (event: GatewayEvent) => void;
  /** The surface this gateway serves, for the audit. Default "library". */
  channel?: string;
  /** Watch running sessions of earlier gateways, so that their ends are recorded as they happen. Default true. */
  attach?: boolean;
  /** Run commands on the machines of a fleet instead of this one; see docs/fleet.md. */
  fleet?: FleetGatewayOptions;
}

const KNOWN: Record<keyof GatewayOptions, true> = {
  state: true,
  workspace: true,
  agent: true,
  durability: true,
  retention: true,
  policy: true,
  configuration: true,
  approve: true,
  onEvent: true,
  channel: true,
  attach: true,
  fleet: true,
};

/** Throws InvalidRequest for an unknown option: a misspelled `policy` must not silently open a permissive gateway. */
export function assertKnownOptions(options: GatewayOptions): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(KNOWN, name));
  if (unknown === undefined) return;
  const near = nearest(unknown, Object.keys(KNOWN));
  const message = `\`${unknown}\` is not an option of openGateway${near ? `; did you mean \`${near}\`?` : "."}`;
  throw new SallyportError("InvalidRequest", message, [
    { action: "fix_request", hint: "Correct the option. docs/library.md lists all options." },
  ]);
}
