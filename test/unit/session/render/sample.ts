import type { Screen } from "../../../../src/core/terminal.ts";
import { Emulator } from "../../../../src/session/terminal/emulator.ts";

/** The screen after this output. */
export async function screenAfter(output: string, size = { columns: 40, rows: 4 }): Promise<Screen> {
  const emulator = new Emulator(size);
  await emulator.feed(Buffer.from(output));
  return { ...emulator.screen({ attributes: true, scrollback: true }), offset: Buffer.byteLength(output) };
}
