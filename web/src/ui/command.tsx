import { quoteArgv } from "../../../src/shell/quote.ts";
import { Shown } from "./shown.tsx";

/** A command on one line, quoted as for a shell. Invisible characters are shown as codes. */
export function CommandText(props: { command: string; args: readonly string[] | null }) {
  const text = () => (props.args === null ? props.command : quoteArgv([props.command, ...props.args]));
  return (
    <code class="command">
      <Shown text={text()} />
    </code>
  );
}
