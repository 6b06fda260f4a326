import { createHmac } from "node:crypto";
import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import type { ClaimedItem } from "../storage/work.ts";
import type { DeliveryFailure } from "./items.ts";
import { deliveryBody } from "./items.ts";

/**
 * Returns the signature of a request. It covers the timestamp, so that a receiver that rejects old timestamps is safe
 * from replayed requests.
 */
function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

export interface Webhook {
  url: string;
  /** The secret shared with the receiver, used to sign requests. */
  secret: string;
}

/** Throws InvalidConfiguration when the URL or the secret is not usable, so that the error is reported at startup. */
export function checkWebhook({ url, secret }: Webhook): void {
  const { protocol } = URL.canParse(url) ? new URL(url) : { protocol: "" };
  const wrong = !["http:", "https:"].includes(protocol)
    ? `\`webhook.url\` must be an http or https URL; received ${JSON.stringify(url)}`
    : secret === ""
      ? "`webhook.secret` must not be empty"
      : null;
  if (wrong === null) return;
  throw new SallyportError("InvalidConfiguration", `${wrong}.`, [
    operatorStep("fix_configuration", "Correct the value. docs/work-queue.md describes webhooks."),
  ]);
}

/** Sends an item. Any response other than 2xx is a failure, including redirects, which are not followed. */
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
    return response.ok ? null : `the webhook returned status ${response.status}`;
  } catch (error) {
    return `the webhook request failed: ${reasonOf(error)}`;
  }
}

/** Returns the reason for a fetch error, which is in its `cause`. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === "TimeoutError") return "timed out";
  return cause?.code ?? cause?.message ?? message;
}
