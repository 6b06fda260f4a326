import { alreadyExited } from "../../../session/errors.ts";
import type { Command } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { promptUnlessAttached } from "../../terminal/approval-prompt.ts";
import { attachSession } from "../../terminal/attach-session.ts";
import { onlySession } from "./session-arguments.ts";

export const attach: Command = {
  name: "attach",
  summary: "Attach to the terminal of a session",
  usage: "sallyport attach [OPTIONS] SESSION",
  description: `
    Connects this terminal to a running session. Press C-p C-q to detach and leave the session running, and C-p C-r to
    review the pending approvals of the session's agent, which the bell and the title of the terminal announce. Several
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
      async (gateway) => {
        const session = await gateway.find(reference);
        if (session.info().status !== "running") throw alreadyExited(session.name);
        const { approvals } = gateway;
        return attachSession(session, io, {
          readOnly: values["read-only"] === true,
          raw: values.raw === true,
          approvals,
        });
      },
      { approve: (approval, signal) => promptUnlessAttached(approval, io, signal) },
    );
  },
};
