import type { Outcome } from "../message.ts";

export function killedMessage({ signal, exitCode }: Outcome, killedBy?: string): string {
  const who = killedBy === undefined ? "on request" : `by ${killedBy}`;
  const how = signal ? `with ${signal}` : exitCode === null ? null : `and exited with code ${exitCode}`;
  return `Ended ${who}${how === null ? "" : ` ${how}`}; its output so far is kept.`;
}
