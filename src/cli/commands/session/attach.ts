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
  summary: "Attach to the terminal of a session",
  usage: "sallyport attach [OPTIONS] SESSION",
  description: `
    Connects this terminal to a running session. Press C-p C-q to detach and leave the session running. Several
    terminals can be attached to a session at the same time; the session takes the size of the terminal that was
    attached or resized last. Input is checked against policy and recorded in the audit log.

    The exit code is that of the command if it ends while you are attached; otherwise it is 0.`,
  options: { "read-only": { type: "boolean", short: "r" }, raw: { type: "boolean" } },
  help: {
    "read-only": "Only watch: do not send input and do not resize the session",
    raw: "Also pass on sequences that act outside the screen, such as on the title and the clipboard",
  },
  examples: [
    ["Attach to a session", "sallyport attach editor"],
    ["Watch a session without sending input", "sallyport attach --read-only web"],
  ],
  run: (invocation) => {
    const { values, io } = invocation;
    const reference = onlySession(invocation);
    return withGateway(
      invocation,
      async (gateway) =>
        join(await gateway.find(reference), { readOnly: values["read-only"] === true, raw: values.raw === true }, io),
      { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) },
    );
  },
};

async function join(
  session: SessionHandle,
  { readOnly, raw }: Pick<AttachOptions, "readOnly" | "raw">,
  io: Io,
): Promise<number> {
  const { status, pty } = session.info();
  if (status !== "running") throw alreadyExited(session.name);
  const start = pty ? await screenOf(session, readOnly, io) : await endOfOutput(session);
  return attachSession(session, io, { readOnly, raw, ...start });
}

type Start = Pick<AttachOptions, "offset" | "opening">;

/** Returns the current screen, to be drawn before the output that follows. */
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
