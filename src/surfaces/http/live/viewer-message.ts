import * as z from "zod";

const Message = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("input"), data: z.string() }),
  z.strictObject({ type: z.literal("resize"), columns: z.int().min(1).max(1000), rows: z.int().min(1).max(1000) }),
  z.strictObject({ type: z.literal("ack"), bytes: z.int().min(0) }),
]);

/** What a viewer of a terminal may say. */
export type ViewerMessage = z.infer<typeof Message>;

/** Null: it is none. */
export function parseMessage(text: string): ViewerMessage | null {
  try {
    return Message.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
