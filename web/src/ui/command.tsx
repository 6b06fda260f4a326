import { quoteArgv } from "../../../src/shell/quote.ts";
import { Shown } from "./shown.tsx";

/** A command on one line, as it would be typed; nothing in it can pass for something else. */
export function CommandText(props: { command: string; args: readonly string[] | null }) {
  const text = () => (props.args === null ? props.command : quoteArgv([props.command, ...props.args]));
  return (
    <code class="command">
      <Shown text={text()} />
    </code>
  );
}
