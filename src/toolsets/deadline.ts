import type { Gateway } from "../gateway/gateway.ts";

/** A foreground deadline in ms: the caller's, else the operator's, else the toolset's own, never past what is allowed. */
export function deadlineMs(
  gateway: Gateway,
  asked: number | undefined,
  own: { byDefault: number; most?: number },
): number {
  const { defaultSeconds, maxSeconds } = gateway.timeouts;
  if (asked !== undefined) return Math.ceil(asked * 1000);
  const most = Math.min(own.most ?? Number.POSITIVE_INFINITY, maxSeconds ?? Number.POSITIVE_INFINITY);
  return Math.min(defaultSeconds ?? own.byDefault, most) * 1000;
}

/** The same where more than is allowed is cut to it instead of being refused. */
export function clampedMs(
  gateway: Gateway,
  asked: number | undefined,
  own: { byDefault: number; most: number },
): number {
  const most = Math.min(own.most, gateway.timeouts.maxSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  return Math.min(deadlineMs(gateway, asked, own), most);
}
