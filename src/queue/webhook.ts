import { createHmac } from "node:crypto";
import { SallyportError } from "../core/error.ts";
import type { ClaimedItem } from "../storage/work.ts";
import type { DeliveryFailure } from "./items.ts";
import { deliveryBody } from "./items.ts";

/**
 * Proves to a receiver who sent a body and when. The time is signed with it, so that a recorded call cannot be played
 * back later: a receiver refuses old times.
 */
function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

export interface Webhook {
  url: string;
  /** Shared with the receiver, to sign what is sent. */
  secret: string;
}

/** Refused before the first call: a web hook that cannot work should not be found out item by item. */
export function checkWebhook({ url, secret }: Webhook): void {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: "" };
  const wrong = !["http:", "https:"].includes(protocol)
    ? `\`webhook.url\` must be an http or https address; received ${JSON.stringify(url)}`
    : secret === ""
      ? "`webhook.secret` must not be empty"
      : null;
  if (wrong === null) return;
  throw new SallyportError("InvalidConfiguration", `${wrong}.`, [
    { action: "fix_configuration", hint: "See docs/work-queue.md for how a web hook is set up." },
  ]);
}

/** One call. Any answer but 2xx is a failure, also a redirect: what was configured is what is called. */
export async function callWebhook(
  item: ClaimedItem,
  { url, secret }: Webhook,
  signal: AbortSignal,
): Promise<DeliveryFailure> {
  const body = deliveryBody(item);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    "content-type": "application/json",
    "user-agent": "sallyport",
    "sallyport-key": encodeURIComponent(item.key),
    "sallyport-timestamp": timestamp,
    "sallyport-signature": signatureOf(secret, timestamp, body),
  };
  try {
    const response = await fetch(url, { method: "POST", body, headers, redirect: "manual", signal });
    await response.body?.cancel();
    return response.ok ? null : `the web hook answered ${response.status}`;
  } catch (error) {
    return `the web hook could not be called: ${reasonOf(error)}`;
  }
}

/** fetch says "fetch failed" and hides the reason in its cause. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return "it did not answer in time";
  return cause?.code ?? cause?.message ?? message;
}
