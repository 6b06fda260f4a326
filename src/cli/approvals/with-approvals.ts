import { join } from "node:path";
import type { Approvals } from "../../approval/approvals.ts";
import type { Invocation } from "../command.ts";
import { textOption } from "../options.ts";
import { stateFolder } from "../state.ts";

/** Opens the approvals of the state folder, and closes them whatever happens. No keeper is started for a decision. */
export async function withApprovals<T>(
  { values }: Pick<Invocation, "values">,
  use: (approvals: Approvals) => Promise<T>,
): Promise<T> {
  const { Approvals } = await import("../../approval/approvals.ts");
  const { AuditLog } = await import("../../storage/audit.ts");
  const { openDatabase } = await import("../../storage/database.ts");
  const { openStateFolder } = await import("../../storage/state-folder.ts");
  const database = openDatabase(join(openStateFolder(stateFolder(textOption(values, "state"))), "sallyport.db"));
  try {
    const audit = new AuditLog(database);
    return await use(new Approvals(database, { audit: (entry) => audit.append(entry) }));
  } finally {
    database.close();
  }
}
