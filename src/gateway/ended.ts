import type { Executor } from "../executor/executor.ts";
import { execCallback } from "../queue/exec-callback.ts";
import type { EndListener } from "../session/registry.ts";
import type { AuditLog } from "../storage/audit.ts";
import type { WorkQueue } from "../storage/work.ts";
import { exitEntry } from "./journal.ts";

/** What the end of a session leaves besides its row: an audit entry and, for a background one, a callback. */
export function onEnded(audit: AuditLog, work: WorkQueue | null, executor: Pick<Executor, "data">): EndListener {
  return (session, ended, first) => {
    if (!first) return () => {};
    if (session.background !== 1 || work === null) return () => audit.append(exitEntry(session, ended));
    const { logPath, lastLines } = ended.told ?? executor.data(session).forCallback();
    const callback = execCallback({
      id: session.id,
      exitCode: ended.record === null ? null : (JSON.parse(ended.record) as { code: number | null }).code,
      logPath: session.log_file ?? logPath,
      lastLines,
    });
    return () => {
      audit.append(exitEntry(session, ended));
      work.enqueue(callback);
    };
  };
}
