import type { TrustedKey, TrustedKeys } from "../../../fleet/keys.ts";
import { formatAge } from "../../../text/format.ts";
import type { Column } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { type Invocation, UsageError } from "../../command.ts";
import { printJson } from "../../io.ts";
import { stateFolder, withDatabase } from "../../open.ts";
import { assertAttended, assertPerson, localUser } from "../../person.ts";
import { printList } from "../../table.ts";

export async function showKey({ values, io }: Invocation, [unexpected]: string[]): Promise<number> {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\` for \`fleet key\``);
  const { signingKey } = await import("../../../fleet/keys.ts");
  const key = signingKey(await openedState(values)).public;
  if (values.json) printJson({ key }, io);
  else io.out(`${key}\n`);
  return 0;
}

export function trust(invocation: Invocation, [action = "list", ...given]: string[]): Promise<number> {
  if (action === "add") return add(invocation, given);
  if (action === "remove") return remove(invocation, given);
  if (action !== "list") throw new UsageError(`unknown subcommand \`fleet trust ${action}\`; use list, add or remove`);
  if (given[0] !== undefined) throw new UsageError(`unexpected argument \`${given[0]}\` for \`fleet trust list\``);
  return list(invocation);
}

async function list(invocation: Invocation): Promise<number> {
  const { TrustedKeys } = await import("../../../fleet/keys.ts");
  const found = new TrustedKeys(await openedState(invocation.values)).list();
  const empty = "No trusted gateways. Add one with `sallyport fleet trust add NAME KEY`.";
  printList(found, { columns: () => trustColumns(Date.now()), piped: PIPED_TRUST_COLUMNS, empty }, invocation);
  return 0;
}

async function add(invocation: Invocation, [name, key, unexpected]: string[]): Promise<number> {
  if (name === undefined || key === undefined) {
    throw new UsageError(
      "`fleet trust add` requires a name and the key that `sallyport fleet key` prints on the gateway",
    );
  }
  if (unexpected !== undefined)
    throw new UsageError(`unexpected argument \`${unexpected}\`; \`fleet trust add\` takes one gateway`);
  const trusting = (keys: TrustedKeys) => [{ changed: keys.add(name, key, localUser().who), outcome: "trusted" }];
  return withTrust(invocation, trusting, assertAttended);
}

async function remove(invocation: Invocation, names: string[]): Promise<number> {
  if (names.length === 0) throw new UsageError("no gateway given; use its name or its key");
  const distrusting = (keys: TrustedKeys) =>
    names.map((name) => ({ changed: keys.remove(name), outcome: "distrusted" }));
  return withTrust(invocation, distrusting, assertPerson);
}

/**
 * Changes the trusted keys and records each change in the audit log. Throws unless a person runs the command, because
 * an agent that could add a key could approve its own commands (invariant 7).
 */
async function withTrust(
  invocation: Invocation,
  change: (keys: TrustedKeys) => { changed: TrustedKey; outcome: string }[],
  check: () => Promise<void>,
): Promise<number> {
  await check();
  const { TrustedKeys } = await import("../../../fleet/keys.ts");
  const { AuditLog } = await import("../../../storage/audit.ts");
  const keys = new TrustedKeys(await openedState(invocation.values));
  return withDatabase(invocation, async (database) => {
    const audit = new AuditLog(database);
    const { who, channel } = localUser();
    const changes = change(keys);
    for (const { changed, outcome } of changes) {
      const summary = `gateway ${changed.name}`;
      const detail = { key: changed.key };
      audit.append({ kind: "trust", agent: "", session: null, actor: who, channel, outcome, summary, detail });
    }
    if (invocation.values.json)
      printJson(
        changes.map(({ changed }) => changed),
        invocation.io,
      );
    return 0;
  });
}

async function openedState(values: Invocation["values"]): Promise<string> {
  const { openStateFolder } = await import("../../../storage/state-folder.ts");
  return openStateFolder(stateFolder(values));
}

function trustColumns(nowMs: number): Column<TrustedKey>[] {
  return [
    { title: "NAME", value: ({ name }) => name },
    { title: "KEY", value: ({ key }) => shownLine(key), flexible: true },
    { title: "ADDED", value: ({ addedAt }) => `${formatAge(nowMs - Date.parse(addedAt))} ago` },
    { title: "BY", value: ({ by }) => shownLine(by) },
  ];
}

/** The columns for a pipe. */
const PIPED_TRUST_COLUMNS: Column<TrustedKey>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "KEY", value: ({ key }) => shownLine(key) },
  { title: "ADDED", value: ({ addedAt }) => shownLine(addedAt) },
  { title: "BY", value: ({ by }) => shownLine(by) },
];
