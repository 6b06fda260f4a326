import { SallyportError } from "../core/error.ts";

/** An error as it travels. */
export function asFailure(error: unknown): {
  type: string;
  message: string;
  recovery: { action: string; hint: string }[];
} {
  if (error instanceof SallyportError) {
    return { type: error.type, message: error.message, recovery: error.recovery.map((each) => ({ ...each })) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { type: "SpawnFailed", message, recovery: [{ action: "retry", hint: "Try again." }] };
}
