import type { ConfigFile } from "../config/schema.ts";
import type { ApprovalCallback, GatewayEvent, Retention } from "../contract/gateway.ts";

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
}
