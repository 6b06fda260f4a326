import { SallyportError } from "../../core/error.ts";
import { needsFleet } from "../../fleet/errors.ts";
import { storeNames } from "../../fleet/subjects.ts";
import type { Invocation } from "../command.ts";
import { countOption } from "../options.ts";
import { printJson } from "../print-json.ts";
import { UsageError } from "../usage-error.ts";

/** Makes what a fleet keeps on its servers, where workers may not: once, with the credentials of an operator's gateway. */
export async function setUp({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`\`fleet setup\` takes no \`${unexpected}\``);
  const replicas = countOption(values, "replicas") ?? null;
  const [{ fleetFromEnvironment }, { loadConfig }, { joinFleet }, { ensureStores }] = await Promise.all([
    import("../../fleet/url.ts"),
    import("../../config/load.ts"),
    import("../../fleet/connection.ts"),
    import("../../fleet/streams.ts"),
  ]);
  const options = fleetFromEnvironment() ?? loadConfig({ workspace: process.cwd() }).settings.fleet;
  if (!options) throw new SallyportError("InvalidRequest", ...needsFleet("fleet setup"));
  const { connection, fleet } = await joinFleet(options, "gateway");
  try {
    await ensureStores(connection, fleet, { replicas });
    if (values.json) printJson({ fleet, stores: storeNames(fleet) }, io);
    return 0;
  } finally {
    await connection.close();
  }
}
