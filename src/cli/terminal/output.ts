import { QueryFilter } from "../../text/terminal/queries.ts";
import { VisibleOutput } from "../../text/terminal/visible-output.ts";
import type { Io } from "../command.ts";

/** Prints the output of a command. `end` prints what was held back. */
export interface OutputWriter {
  out(bytes: Uint8Array): void;
  err(bytes: Uint8Array): void;
  end(): void;
}

/** How output is printed on a terminal: made visible, as drawing on the screen only, or unchanged. */
export type OutputMode = "visible" | "drawing" | "raw";

/**
 * Returns the function that prints output. A terminal interprets escape sequences, which a command could use to hide
 * text or to write to the clipboard (invariant 2), so they are filtered there. A file or a pipe gets every byte.
 */
export function outputWriter(io: Io, mode: OutputMode): OutputWriter {
  const out = streamWriter((text) => io.out(text), io.isTTY.stdout ? mode : "raw", io.color);
  const err = streamWriter((text) => io.err(text), io.isTTY.stderr ? mode : "raw", io.color);
  return {
    out: out.write,
    err: err.write,
    end: () => {
      out.end();
      err.end();
    },
  };
}

type StreamWriter = { write: (bytes: Uint8Array) => void; end: () => void };

function streamWriter(write: (text: string | Uint8Array) => void, mode: OutputMode, color: boolean): StreamWriter {
  if (mode === "raw") return { write, end: () => {} };
  if (mode === "drawing") {
    const filter = new QueryFilter({ raw: false });
    return { write: (bytes) => write(filter.filter(bytes)), end: () => write(filter.reset()) };
  }
  const filter = new VisibleOutput({ color });
  return { write: (bytes) => write(filter.convert(bytes)), end: () => write(filter.end()) };
}
