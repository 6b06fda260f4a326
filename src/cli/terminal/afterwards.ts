import type { SessionHandle } from "../../core/gateway.ts";
import type { Io } from "../command.ts";
import { exitCodeOf } from "../exit-code.ts";
import { detachedNote } from "../notes.ts";
import { tellOutcome } from "../report-outcome.ts";
import type { converse } from "./attach-session.ts";

/** Tells what became of a session that a person talked to; the exit code is the command's, unless it was only left. */
export async function afterwards(
  session: SessionHandle,
  how: Awaited<ReturnType<typeof converse>>,
  io: Io,
): Promise<number> {
  if (how === "detached") {
    io.err(`${detachedNote(session)}\n`);
    return 0;
  }
  const info = await session.wait();
  tellOutcome(info, io);
  return exitCodeOf(info);
}
