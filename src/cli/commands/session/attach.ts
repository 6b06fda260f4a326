import type { SessionHandle } from "../../../core/gateway.ts";
import { alreadyExited } from "../../../session/errors.ts";
import { redrawSequence } from "../../../session/terminal/render/ansi.ts";
import type { Command, Io } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { promptUnlessAttached } from "../../terminal/approval-prompt.ts";
import { type AttachOptions, attachSession } from "../../terminal/attach-session.ts";
import { localTerminal } from "../../terminal/tty.ts";
import { onlySession } from "./session-arguments.ts";

export const attach: Command = {
  name: "attach",
  summary: "Sit down at a session's terminal, next to whoever is there already",
  usage: "sallyport attach [OPTIONS] SESSION",
  options: { "read-only": { type: "boolean", short: "r" } },
  help: { "read-only": "look on: nothing is typed, and the session keeps its size" },
  examples: ["sallyport attach editor", "sallyport attach --read-only web"],
  notes: `C-p C-q leaves the session running. Several may be attached at once; the session is as large as the terminal
that was attached or resized last. What is typed is judged and audited as any other input. The exit code is the
command's own when it ends meanwhile, else 0.`,
  run: (invocation) => {
    const { values, io } = invocation;
    const reference = onlySession(invocation);
    return withGateway(
      invocation,
      async (gateway) => join(await gateway.find(reference), values["read-only"] === true, io),
      { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) },
    );
  },
};

async function join(session: SessionHandle, readOnly: boolean, io: Io): Promise<number> {
  const { status, pty } = session.info();
  if (status !== "running") throw alreadyExited(session.name);
  const start = pty ? await screenOf(session, readOnly, io) : await endOfOutput(session);
  return attachSession(session, io, { readOnly, ...start });
}

type Start = Pick<AttachOptions, "offset" | "opening">;

/** What is there already comes first; what follows is written on top of it. */
async function screenOf(session: SessionHandle, readOnly: boolean, io: Io): Promise<Start> {
  const own = localTerminal(io);
  if (own && !readOnly) await session.resize(own.size());
  const screen = await session.screen({ attributes: true });
  const opening = own ? redrawSequence(screen, own.size()) : `${screen.lines.join("\n").trimEnd()}\n`;
  return { offset: screen.offset, opening };
}

async function endOfOutput(session: SessionHandle): Promise<Start> {
  return { offset: (await session.logs({ tail: 0 })).nextOffset, opening: "" };
}
