import { type Command, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { WHICH_SESSION } from "./session-arguments.ts";

export const sendKeys: Command = {
  name: "send-keys",
  summary: "Type keys into a session on a terminal",
  usage: "sallyport send-keys [OPTIONS] SESSION KEY…",
  takesCommandLine: true,
  options: { literal: { type: "boolean", short: "l" }, paste: { type: "boolean" }, enter: { type: "boolean" } },
  help: {
    literal: "type the rest as it is, one blank between the words",
    paste: "paste the rest as a text: a program that asked for it is told so",
    enter: "press Enter afterwards",
  },
  examples: [
    "sallyport send-keys editor Escape : w q Enter",
    "sallyport send-keys web C-c",
    "sallyport send-keys -l --enter repl 'print(6 * 7)'",
  ],
  notes: `A KEY is a name (Enter, Tab, Escape, Up, PageDown, F5, Space …), one character, either with C-, M- or S-
in front (C-c, M-x, S-Tab), or bytes in hex (0x1b). For whole words use --literal or --paste.`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, rest } = invocation;
      const [reference, ...keys] = rest ?? [];
      if (reference === undefined) throw new UsageError(WHICH_SESSION);
      if (keys.length === 0 && !values.enter) throw new UsageError("which keys? For example `Enter` or `C-c`");
      if (values.literal && values.paste) throw new UsageError("either `--literal` or `--paste`, not both");
      const session = await gateway.find(reference);
      if (values.paste) {
        await session.paste(keys.join(" "), { submit: values.enter === true });
        return 0;
      }
      const typed = values.literal ? [...keys.join(" ")] : keys;
      await session.sendKeys(values.enter ? [...typed, "Enter"] : typed);
      return 0;
    }),
};
