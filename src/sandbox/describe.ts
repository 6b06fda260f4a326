/** What keeps a command in bounds, in words. */

import type { Network } from "../core/network.ts";
import type { Reason } from "../core/verdict.ts";
import type { Loosening } from "./escalation.ts";
import type { Sandboxed } from "./sandbox.ts";
import type { RememberedSandbox } from "./snapshot.ts";

/** `workspace-write`, `isolated, network off`: what `inspect` and `list` show. */
export function sandboxLabel({ profile, network }: Pick<RememberedSandbox, "profile" | "network">): string {
  return network === "on" ? profile : `${profile}, ${networkText(network)}`;
}

function networkText(network: Network): string {
  if (typeof network === "string") return `network ${network}`;
  return network.ports.length === 0 ? "no ports" : `ports ${network.ports.join(" ")}`;
}

/** As a person who is asked reads it, and what their yes is bound to (promise 2). */
export function confinementText({ bounds, spec, unavailable }: Sandboxed): string {
  const { profile, network } = bounds;
  const user = spec?.user ? `as user ${spec.user.uid}` : "with your own rights";
  if (unavailable) return `none, since nothing here can confine it: it runs ${user}`;
  if (profile === "off") {
    const net = network === "on" ? "" : `; ${networkText(network)}`;
    return `none: it runs ${user}${net}`;
  }
  const places = [...bounds.writable, ...(spec?.temporary ? ["its temporary folder"] : [])];
  const writes = places.length === 0 ? "writes nothing" : `writes only to ${places.join(", ")}`;
  return [`${profile}: it ${writes}`, networkText(network), ...(spec?.user ? [`runs ${user}`] : [])].join("; ");
}

/** Why a request that asks for more than is configured needs a person. */
export function looseningReason(loosening: Loosening): Reason {
  return { rule: loosening.rule, ...escalationText(loosening), span: null };
}

function escalationText(loosening: Loosening): Pick<Reason, "message" | "suggestion"> {
  switch (loosening.rule) {
    case "sandbox-off":
      return {
        message: "It asks to run without the sandbox.",
        suggestion: "Leave `sandbox` out; if it must write to one more place, ask for that alone with `writable`.",
      };
    case "sandbox-isolation":
      return {
        message: "It asks to leave the isolation that is configured here.",
        suggestion: "Leave `sandbox` out.",
      };
    case "sandbox-write":
      return {
        message: `It asks to write to ${loosening.paths.join(", ")}.`,
        suggestion: "Write in the workspace or in $TMPDIR.",
      };
    case "sandbox-network":
      return {
        message: `It asks for more of the network than is configured here: ${networkText(loosening.network)}.`,
        suggestion: "Leave `network` out.",
      };
  }
}
