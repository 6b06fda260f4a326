import type { Terminal } from "@xterm/headless";

/** Sequences that are carried out once per count, one by one: the count may be two thousand million. */
const REPEATED = ["I", "L", "M", "S", "T", "Z"];

interface Parameters {
  params: Int32Array;
}

/** The terminal below the public one; its handlers may change what a sequence asks for before it is done. */
interface Core {
  registerCsiHandler(id: { prefix?: string; final: string }, handler: (parameters: Parameters) => boolean): unknown;
}

/**
 * Keeps a hostile output from taking more time or memory than an honest one of its length. What is asked for beyond
 * the screen's own size has no effect there anyway.
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
  // The last character so many times over.
  core.registerCsiHandler({ final: "b" }, (parameters) => limit(parameters, terminal.rows * terminal.cols));
  // Erasing up to the cursor in the last cell throws in xterm, which looks at the row below; it erases the whole screen.
  const eraseAll = (parameters: Parameters) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    const inLastCell = cursorX >= terminal.cols - 1 && cursorY >= terminal.rows - 1;
    if (parameters.params[0] === 1 && inLastCell) parameters.params[0] = 2;
    return false;
  };
  core.registerCsiHandler({ final: "J" }, eraseAll);
  core.registerCsiHandler({ prefix: "?", final: "J" }, eraseAll);
  // Links are not shown, and each would be kept as long as its line.
  terminal.parser.registerOscHandler(8, () => true);
}
