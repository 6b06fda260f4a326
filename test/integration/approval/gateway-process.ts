/** A process that uses approvals: performs the operation in each message it receives and sends back the result. */
import { Approvals } from "../../../src/approval/approvals.ts";
import type { Binding } from "../../../src/approval/binding.ts";
import type { ApprovalDecision } from "../../../src/core/approval.ts";
import { SallyportError } from "../../../src/core/error.ts";
import { AuditLog } from "../../../src/storage/audit.ts";
import { openDatabase } from "../../../src/storage/database.ts";

type Order =
  | { do: "decide"; id: string; decision: ApprovalDecision }
  | { do: "consume"; id: string; binding: Binding; session: string; thenDie?: boolean };

const [file = ""] = process.argv.slice(2);
const database = openDatabase(file);
const audit = new AuditLog(database);
const approvals = new Approvals(database, { ancestry: () => "none", audit: (entry) => audit.append(entry) });

function obey(order: Order): unknown {
  try {
    if (order.do === "decide") return approvals.decide(order.id, order.decision).status;
    const consumed = approvals.consume(order.id, order.binding, { agent: "builder", session: order.session });
    if (order.thenDie) process.kill(process.pid, "SIGKILL");
    return consumed;
  } catch (error) {
    if (error instanceof SallyportError) return error.toJSON();
    throw error;
  }
}

process.on("message", (order: Order) => {
  process.send?.(obey(order));
});
process.send?.("ready");
