import type { ApprovalCallback } from "../../core/gateway.ts";
import type { Io } from "../command.ts";
import { waitingNote } from "../notes.ts";
import { askRightHere } from "./approval-prompt.ts";

/** While the keyboard belongs to a session, a question cannot be answered there: it is told where it can. */
let talking = false;

export function setTalking(yes: boolean): void {
  talking = yes;
}

export async function askUnlessTalking(
  approval: Parameters<ApprovalCallback>[0],
  io: Io,
  over: AbortSignal,
): ReturnType<ApprovalCallback> {
  if (!talking) return askRightHere(approval, io, over);
  io.err(`\r\n${waitingNote(approval).replaceAll("\n", "\r\n")}\r\n`);
  return null;
}
