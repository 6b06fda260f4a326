import type { ErrorType, Recovery } from "../core/error.ts";

/** The keeper died and took the command with it: nobody knows how far it got. */
export function sessionLost(): { type: ErrorType; message: string; recovery: Recovery[] } {
  return {
    type: "SessionLost",
    message: "The command's keeper was killed and the command with it; how far it got is not known.",
    recovery: [
      { action: "check_logs", hint: "Its output up to then is in the session's logs." },
      { action: "retry", hint: "Run it again if that is safe." },
    ],
  };
}

export function lostNote(stream: string, bytes: number): string {
  return `${bytes} bytes of ${stream} could not be written to disk and are lost`;
}
