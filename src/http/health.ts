import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson } from "./json-response.ts";
import type { Service } from "./service.ts";

/** The health checks, by path. Each returns what it answers with, or null when the check fails. */
export const HEALTH = {
  "/healthz": { id: "health", check: () => ({ status: "ok" }) },
  "/readyz": { id: "ready", check: (service: Service) => (isReady(service) ? { status: "ready" } : null) },
} as const;

function isReady({ gateway, stopping }: Service): boolean {
  if (stopping.aborted) return false;
  try {
    gateway.changes.head();
    return true;
  } catch {
    return false;
  }
}

/**
 * Answers a health check as the application does, without loading it. Returns false for all other requests and when the
 * check fails.
 */
export function answerHealthCheck(service: Service, request: IncomingMessage, response: ServerResponse): boolean {
  const { method, url = "" } = request;
  if (method !== "GET" || !Object.hasOwn(HEALTH, url)) return false;
  const begun = performance.now();
  const { id, check } = HEALTH[url as keyof typeof HEALTH];
  const result = check(service);
  if (result === null) return false;
  sendJson(response, 200, JSON.stringify(result));
  service.requests.note(id, 200, performance.now() - begun);
  return true;
}
