import type { ConfigFile } from "../config/schema.ts";
import { SallyportError } from "../core/error.ts";
import type { ApprovalCallback, GatewayEvent, Retention } from "../core/gateway.ts";
import { operatorStep } from "../core/next-step.ts";
import type { FleetGatewayOptions } from "../core/settings.ts";
import { nearest } from "../text/nearest.ts";

/**
 * Options for `openGateway`. Unknown options are rejected.
 *
 * @example
 * ```ts
 * import type { GatewayOptions } from "sallyport";
 *
 * const options: GatewayOptions = {
 *   agent: "builder",
 *   policy: { security: "allowlist", allowlist: [{ pattern: "/usr/bin/git" }] },
 *   approve: async ({ request }) => ({ decision: request.analyzable ? "once" : "deny", who: "ann" }),
 * };
 * const builder = await openGateway(options);
 * console.log(builder.policy.security); // allowlist
 * await builder.close();
 * ```
 */
export interface GatewayOptions {
  /** The state folder. Default: `$SALLYPORT_STATE`, or `~/.local/state/sallyport`. */
  state?: string;
  /** The folder in which commands run by default. Default: the current working directory. */
  workspace?: string;
  /** The name of the agent that sessions belong to and whose settings apply. Default: `default`. */
  agent?: string;
  /**
   * Whether what was acknowledged survives only a crash of a process (`process`) or also a power failure (`power-loss`),
   * which needs disk flushes for each command. Default: the configured value, or `process`.
   */
  durability?: "process" | "power-loss";
  /** Limits on the finished sessions that are kept. Default: the configured values. */
  retention?: Partial<Retention>;
  /** Settings with the keys of `sallyport.json`. They override the operator's configuration file. */
  policy?: ConfigFile;
  /** The operator's configuration file, or null for none. Default: `$XDG_CONFIG_HOME/sallyport/sallyport.json`. */
  configuration?: string | null;
  /** Asks a person about commands that require approval. Without it, people decide with `sallyport approvals`. */
  approve?: ApprovalCallback;
  /** Called when a command starts or is refused, and when approval is requested. */
  onEvent?: (event: GatewayEvent) => void;
  /** The surface that the gateway serves, for the audit log. Default: `library`. */
  channel?: string;
  /** Whether to watch running sessions of other gateways and to record when they end. Default: true. */
  attach?: boolean;
  /** The fleet that runs the commands instead of this machine. See docs/fleet.md. */
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
    operatorStep("fix_request", "Correct the option. docs/library-api.md lists all options."),
  ]);
}
