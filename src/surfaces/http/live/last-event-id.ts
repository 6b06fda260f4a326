import type { IncomingMessage } from "node:http";

/** Where the reader of an earlier stream was; null: they come for the first time. */
export function lastEventId({ headers }: Pick<IncomingMessage, "headers">): string | null {
  const given = headers["last-event-id"];
  return typeof given === "string" && given !== "" ? given : null;
}
