import type { Terminal } from "@xterm/headless";

/** Sequences that xterm executes once per count; the count may be two billion. */
const REPEATED = ["I", "L", "M", "S", "T", "Z"];

interface Parameters {
  params: Int32Array;
}

/** xterm's internal terminal, whose handlers can change the parameters of a sequence before it is executed. */
interface Core {
  registerCsiHandler(id: { prefix?: string; final: string }, handler: (parameters: Parameters) => boolean): unknown;
}

/**
 * Keeps malicious output from taking more time or memory than other output of the same length. Counts above the size of
 * the screen have no further effect, so they are clamped.
 */
export function guard(terminal: Terminal): void {
  const core = (terminal as unknown as { _core: Core })._core;
  const limit = (parameters: Parameters, most: number) => {
    if ((parameters.params[0] ?? 0) > most) parameters.params[0] = most;
    return false;
  };
  for (const final of REPEATED) {
    core.registerCsiHandler({ final }, (parameters) => limit(parameters, Math.max(terminal.rows, terminal.cols)));
  }
  // Repeats the last character.
  core.registerCsiHandler({ final: "b" }, (parameters) => limit(parameters, terminal.rows * terminal.cols));
  // xterm throws when it erases up to the cursor in the last cell, so the whole screen is erased instead.
  const eraseAll = (parameters: Parameters) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    const inLastCell = cursorX >= terminal.cols - 1 && cursorY >= terminal.rows - 1;
    if (parameters.params[0] === 1 && inLastCell) parameters.params[0] = 2;
    return false;
  };
  core.registerCsiHandler({ final: "J" }, eraseAll);
  core.registerCsiHandler({ prefix: "?", final: "J" }, eraseAll);
  // Hyperlinks are not shown, and xterm would keep each as long as its line.
  terminal.parser.registerOscHandler(8, () => true);
}
