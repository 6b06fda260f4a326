import type { Sandboxed } from "../sandbox/sandbox.ts";
import { rootWarning, unavailableWarning } from "../sandbox/warnings.ts";
import type { Rooms } from "./rooms.ts";

/** What is to be said about a command's confinement before it runs. */
export function confinementWarnings(rooms: Rooms, sandbox: Sandboxed | null): string[] {
  // Of the portable executor more is said elsewhere.
  if (sandbox?.unavailable) return rooms.executor.abilities.confines ? [unavailableWarning()] : [];
  const asRoot = sandbox?.confined && sandbox.spec?.user === null && process.getuid?.() === 0;
  // Once per gateway, with every command it would be noise; a command line is a gateway each, so there `doctor` says it.
  if (!asRoot || rooms.channel === "cli" || rooms.told.has("root")) return [];
  rooms.told.add("root");
  return [rootWarning()];
}
