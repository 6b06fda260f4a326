import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Approvals } from "../approval/approvals.ts";
import { callerFolder, callerPath } from "../core/caller.ts";
import type { Settings } from "../core/settings.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { GatewayOptions } from "../gateway/options.ts";
import type { CurrentSettings } from "../gateway/settings.ts";
import { defaultState } from "../storage/state-folder.ts";
import type { Invocation, Io } from "./command.ts";
import { waitingNote } from "./notes.ts";
import { textOption } from "./options.ts";

/** Returns the value of `--state`, or the default state folder of this environment. */
export function stateFolder(values: Invocation["values"]): string {
  const option = textOption(values, "state");
  return option ? callerPath(option) : defaultState();
}

/** What the resident gateway, whose process answers many commands, keeps for them. */
interface Shared {
  /** Returns a gateway, or null when none can be shared. */
  gateway(options: { workspace: string; agent: string }): Gateway | null;
  /** Returns the current settings and what they confine. Null when the current command is not one that it answers. */
  settings(options: { workspace: string; agent: string }): CurrentSettings | null;
}

let shared: Shared | null = null;

/** Makes commands use gateways that this process keeps open. */
export function shareGateways(between: Shared): void {
  shared = between;
}

/**
 * Returns the settings of an agent in a workspace and, if this process has it already, what they confine. The code that
 * loads configurations is imported here, so that commands without settings start faster.
 */
export async function settingsOf(options: {
  workspace: string;
  agent: string;
}): Promise<Partial<CurrentSettings> & { settings: Settings }> {
  const known = shared?.settings(options);
  if (known) return known;
  const { loadConfig } = await import("../config/load.ts");
  return { settings: loadConfig({ workspace: options.workspace }).forAgent(options.agent) };
}

/**
 * Opens the gateway for a command and closes it afterwards, even after an error. The gateway's code is loaded here,
 * once the command line has been validated, so that help and usage errors do not wait for it. By default, an operation
 * that waits for approval says so on stderr.
 */
export async function withGateway<T>(
  { values, io }: Pick<Invocation, "values" | "io">,
  use: (gateway: Gateway) => Promise<T>,
  options: Pick<GatewayOptions, "onEvent" | "approve" | "workspace"> = { onEvent: tellWaiting(io) },
): Promise<T> {
  const agent = textOption(values, "agent");
  const { onEvent, approve, workspace = callerFolder() } = options;
  const isPlain = approve === undefined && onEvent === undefined;
  const kept = isPlain ? shared?.gateway({ workspace, agent: agent ?? "default" }) : null;
  if (kept) return use(kept);
  const { openGateway } = await import("../gateway/open.ts");
  const state = stateFolder(values);
  const gateway = await openGateway({
    state,
    workspace: callerFolder(),
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

/** Returns a listener that says that an operation waits for approval, and where a person can decide. */
export function tellWaiting(io: Io): NonNullable<GatewayOptions["onEvent"]> {
  return (event) => {
    if (event.type === "approval-requested") io.err(`${waitingNote(event.approval)}\n`);
  };
}

/** Opens only the database of the state folder, which also works on a machine that cannot run commands. */
export async function withDatabase<T>(
  { values }: Pick<Invocation, "values">,
  use: (database: DatabaseSync) => Promise<T>,
): Promise<T> {
  const [{ openDatabase, syncEveryCommit }, { restoreReserve }, { openStateFolder }] = await Promise.all([
    import("../storage/database.ts"),
    import("../storage/reserve.ts"),
    import("../storage/state-folder.ts"),
  ]);
  const state = openStateFolder(stateFolder(values));
  const database = openDatabase(join(state, "sallyport.db"));
  // A person has decided something here. That must not be lost, and is not worth the time to find out whether it may.
  syncEveryCommit(database);
  try {
    return await use(database);
  } finally {
    database.close();
    restoreReserve(state);
  }
}

/** Opens the approvals of the state folder, without an executor, and closes them afterwards, even after an error. */
export async function withApprovals<T>(
  invocation: Pick<Invocation, "values">,
  use: (approvals: Approvals) => Promise<T>,
): Promise<T> {
  const [{ Approvals }, { AuditLog }, { assertAttended }] = await Promise.all([
    import("../approval/approvals.ts"),
    import("../storage/audit.ts"),
    import("../approval/attendance.ts"),
  ]);
  return withDatabase(invocation, async (database) => {
    const audit = new AuditLog(database);
    return use(new Approvals(database, { audit: (entry) => audit.append(entry), attended: () => assertAttended() }));
  });
}
