import type { SessionHandle } from "../../contract/gateway.ts";
import type { TerminalSize } from "../../contract/terminal.ts";
import type { AuditLog } from "../../store/audit.ts";
import type { Caller } from "./guard/caller.ts";

/** Gives a session's terminal another size, and writes down who did. */
export async function resizeAs(
  { name, channel }: Pick<Caller, "name" | "channel">,
  session: SessionHandle,
  { columns, rows }: TerminalSize,
  audit: Pick<AuditLog, "append">,
): Promise<void> {
  await session.resize({ columns, rows });
  audit.append({
    kind: "resize",
    agent: session.info().agent,
    session: session.id,
    actor: name,
    channel,
    outcome: "done",
    summary: `${session.name}: ${columns}x${rows}`,
    detail: { columns, rows },
  });
}
