import { nearest } from "../text/nearest.ts";
import { commandNames } from "./catalog.ts";

/** What other tools call it. */
const ELSEWHERE = new Map([
  ["config", "init"],
  ["console", "serve"],
  ["exec", "run"],
  ["history", "audit"],
  ["list", "ps"],
  ["pending", "approvals"],
  ["prune", "clean"],
  ["remove", "rm"],
  ["server", "serve"],
  ["start", "run"],
  ["status", "ps"],
  ["stop", "kill"],
  ["tail", "logs"],
  ["top", "stats"],
  ["ui", "serve"],
  ["version", "--version"],
]);

/** The command that a name which is none most likely meant; null when nobody can tell. */
export function meantBy(name: string): string | null {
  return ELSEWHERE.get(name) ?? nearest(name, commandNames());
}
