import type { Msg } from "@nats-io/transport-node";

/** What stands in the place of a worker that is to take no work. */
export const DRAINED = "yes";

/** What an operator wants of this worker. Null: nobody can have meant that. */
export function orderIn(message: Msg): "drain" | "return" | null {
  const operation = message.subject.slice(message.subject.lastIndexOf(".") + 1);
  // A server's own answers can be made to come here by whoever names this subject as where they should go.
  const meant = saysSo(message, operation) && message.reply?.startsWith("_INBOX.");
  return meant && (operation === "drain" || operation === "return") ? operation : null;
}

function saysSo(message: Msg, operation: string): boolean {
  try {
    return message.json<{ order?: unknown }>().order === operation;
  } catch {
    return false;
  }
}
