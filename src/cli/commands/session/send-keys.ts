import { type Command, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { NO_SESSION } from "./session-arguments.ts";

export const sendKeys: Command = {
  name: "send-keys",
  summary: "Type keys into the terminal of a session",
  usage: "sallyport send-keys [OPTIONS] SESSION KEY...",
  description: `
    A KEY is a name (Enter, Tab, Escape, Up, PageDown, F5, Space), a single character, either of these with a C-, M- or
    S- prefix (C-c, M-x, S-Tab), or a byte in hexadecimal (0x1b). To type text, use --literal or --paste.`,
  takesCommandLine: true,
  options: { literal: { type: "boolean", short: "l" }, paste: { type: "boolean" }, enter: { type: "boolean" } },
  help: {
    literal: "Type the arguments as text, separated by spaces",
    paste: "Paste the arguments as text, with bracketed paste if the program has enabled it",
    enter: "Press Enter afterwards",
  },
  examples: [
    ["Save and quit in vim", "sallyport send-keys editor Escape : w q Enter"],
    ["Interrupt a program", "sallyport send-keys web C-c"],
    ["Type a line of text", "sallyport send-keys -l --enter repl 'print(6 * 7)'"],
  ],
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, rest } = invocation;
      const [reference, ...keys] = rest ?? [];
      if (reference === undefined) throw new UsageError(NO_SESSION);
      if (keys.length === 0 && !values.enter) throw new UsageError("no keys given; use names such as `Enter` or `C-c`");
      if (values.literal && values.paste) throw new UsageError("`--literal` cannot be used with `--paste`");
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
