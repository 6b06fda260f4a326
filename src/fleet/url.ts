import { SallyportError } from "../core/error.ts";
import type { FleetGatewayOptions } from "../core/settings.ts";
import { badFleetUrl, secretInFleetUrl } from "./errors.ts";

const KNOWN = ["credentials", "ca", "cert", "key", "as", "workspace", "sticky"] as const;

/**
 * Parses a fleet URL such as `nats://host:4222`. Several servers are separated by commas, the path is the name of the
 * fleet, and the query holds options: `tls://a:4222,b:4222/staging?credentials=/etc/gateway.creds&ca=/etc/ca.pem`.
 */
function fleetFromUrl(text: string): FleetGatewayOptions {
  const [, scheme = "nats:", rest = ""] = /^((?:nats|tls):)?(?:\/\/)?(.+)$/s.exec(text.trim()) ?? [];
  const [where = "", query = ""] = rest.split("?", 2);
  const [hosts = "", name] = where.split("/", 2);
  const servers = hosts.split(",").map((host) => `${scheme}//${host.trim()}`);
  // Other processes can read the arguments of a program.
  if (hosts.includes("@")) throw new SallyportError("InvalidRequest", ...secretInFleetUrl());
  if (hosts === "" || !servers.every((server) => URL.canParse(server))) throw refused(text);
  const given = new URLSearchParams(query);
  for (const key of given.keys()) if (!KNOWN.includes(key as (typeof KNOWN)[number])) throw refused(text);
  const at = (key: (typeof KNOWN)[number]) => given.get(key) ?? undefined;
  const files = Object.entries({ ca: at("ca"), cert: at("cert"), key: at("key") }).filter(([, file]) => file);
  const workspace = at("workspace");
  return {
    servers,
    ...(name ? { name } : {}),
    ...(at("as") ? { as: at("as") } : {}),
    ...(at("credentials") ? { credentials: at("credentials") } : {}),
    ...(files.length > 0 ? { tls: Object.fromEntries(files) } : {}),
    ...(workspace === undefined ? {} : { workspace }),
    ...(at("sticky") === undefined ? {} : { sticky: at("sticky") !== "no" }),
  };
}

/** Returns the fleet in `SALLYPORT_FLEET`, or null when the variable is not set. */
export function fleetFromEnvironment(env: NodeJS.ProcessEnv = process.env): FleetGatewayOptions | null {
  return env.SALLYPORT_FLEET ? fleetFromUrl(env.SALLYPORT_FLEET) : null;
}

function refused(text: string): SallyportError {
  return new SallyportError("InvalidRequest", ...badFleetUrl(text));
}
