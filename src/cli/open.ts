import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Approvals } from "../approval/approvals.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import { defaultState } from "../storage/state-folder.ts";
import type { Invocation } from "./command.ts";
import { textOption } from "./options.ts";

/** `--state`, else the folder that the environment names. */
export function stateFolder(values: Invocation["values"]): string {
  const option = textOption(values, "state");
  return option ? resolve(option) : defaultState(process.env);
}

/**
 * Opens the gateway the command line asks for, and closes it whatever happens. Its code is loaded only here, after the
 * command line was found to be right: help and mistakes are answered at once.
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

/** Opens the records of a state folder, and nothing else: looking back works where nothing can be run any more. */
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

/** Opens the approvals of the state folder, and closes them whatever happens. No keeper is started for a decision. */
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
