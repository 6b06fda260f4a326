import { type Network, reachesNoMore } from "../core/network.ts";
import type { Bounds } from "./access.ts";
import { isWithin } from "./workspace.ts";

/** In what a request asks for more than is configured. Each needs a person's word. */
export type Loosening =
  | { rule: "sandbox-off" }
  | { rule: "sandbox-isolation" }
  | { rule: "sandbox-write"; paths: readonly string[] }
  | { rule: "sandbox-network"; network: Network };

/** `lifted`: protected spots that it asks to write. */
export function looseningsOf(asked: Bounds, configured: Bounds, lifted: readonly string[]): Loosening[] {
  const found: Loosening[] = [];
  if (asked.profile === "off") {
    if (configured.profile !== "off") found.push({ rule: "sandbox-off" });
  } else {
    if (configured.profile === "isolated" && asked.profile !== "isolated") {
      found.push({ rule: "sandbox-isolation" });
    }
    const paths = asked.writable.filter((path) => !configured.writable.some((root) => isWithin(path, root)));
    if (configured.profile !== "off" && (paths.length > 0 || lifted.length > 0)) {
      found.push({ rule: "sandbox-write", paths: [...new Set([...paths, ...lifted])] });
    }
  }
  if (!reachesNoMore(asked.network, configured.network)) {
    found.push({ rule: "sandbox-network", network: asked.network });
  }
  return found;
}
