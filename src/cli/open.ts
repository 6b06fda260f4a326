import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Approvals } from "../approval/approvals.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import { defaultState } from "../storage/state-folder.ts";
import type { Invocation } from "./command.ts";
import { textOption } from "./options.ts";

/** Returns the value of `--state`, or the default state folder of this environment. */
export function stateFolder(values: Invocation["values"]): string {
  const option = textOption(values, "state");
  return option ? resolve(option) : defaultState(process.env);
}

/**
 * Opens the gateway for a command and closes it afterwards, even after an error. The gateway's code is loaded here,
 * once the command line has been validated, so that help and usage errors do not wait for it.
 */
export async function withGateway<T>(
  { values }: Pick<Invocation, "values">,
  use: (gateway: Gateway) => Promise<T>,
  options: Pick<GatewayOptions, "onEvent" | "approve"> = {},
): Promise<T> {
  const { openGateway } = await import("../gateway/open.ts");
  const agent = textOption(values, "agent");
  const state = stateFolder(values);
  const gateway = await openGateway({
    state,
    workspace: process.cwd(),
    attach: false,
    channel: "cli",
    ...(agent ? { agent } : {}),
    ...options,
  });
  try {
    return await use(gateway);
  } finally {
    await gateway.close();
  }
}

/** Opens only the database of the state folder, which also works on a machine that cannot run commands. */
export async function withDatabase<T>(
  { values }: Pick<Invocation, "values">,
  use: (database: DatabaseSync) => Promise<T>,
): Promise<T> {
  const [{ openDatabase }, { openStateFolder }] = await Promise.all([
    import("../storage/database.ts"),
    import("../storage/state-folder.ts"),
  ]);
  const database = openDatabase(join(openStateFolder(stateFolder(values)), "sallyport.db"));
  try {
    return await use(database);
  } finally {
    database.close();
  }
}

/** Opens the approvals of the state folder, without an executor, and closes them afterwards, even after an error. */
export async function withApprovals<T>(
  invocation: Pick<Invocation, "values">,
  use: (approvals: Approvals) => Promise<T>,
): Promise<T> {
  const [{ Approvals }, { AuditLog }] = await Promise.all([
    import("../approval/approvals.ts"),
    import("../storage/audit.ts"),
  ]);
  return withDatabase(invocation, async (database) => {
    const audit = new AuditLog(database);
    return use(new Approvals(database, { audit: (entry) => audit.append(entry) }));
  });
}
