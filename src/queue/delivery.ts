import type { ClaimedItem } from "../storage/work-item.ts";

/** Null: it arrived. Otherwise why it did not. */
export type DeliveryFailure = string | null;

/** What receives an item, whichever way. The same key means the same item: it may come more than once. */
export function deliveryBody({ id, key, type, priority, payload, createdAt, attempts }: ClaimedItem): string {
  return JSON.stringify({ id, key, type, priority, payload, createdAt, attempts });
}
