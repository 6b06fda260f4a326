/** What of the network a confined command reaches: all of it, nothing, or listed TCP ports only. */
export type Network = "on" | "off" | { readonly ports: readonly number[] };

export function reachesNoMore(asked: Network, than: Network): boolean {
  if (than === "on" || asked === "off") return true;
  if (than === "off" || asked === "on") return false;
  return asked.ports.every((port) => than.ports.includes(port));
}

/** What both reach. */
export function narrowest(one: Network, other: Network): Network {
  if (reachesNoMore(one, other)) return one;
  if (reachesNoMore(other, one)) return other;
  const shared = typeof other === "object" ? other.ports : [];
  return { ports: typeof one === "object" ? one.ports.filter((port) => shared.includes(port)) : [] };
}
