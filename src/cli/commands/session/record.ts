import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import type { SessionHandle } from "../../../core/gateway.ts";
import { type Command, type Io, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { onlySession } from "./session-arguments.ts";

export const record: Command = {
  name: "record",
  summary: "Export a recording of a session's terminal",
  usage: "sallyport record [OPTIONS] SESSION",
  description: `
    Exports all output and all size changes so far as an asciicast version 2 file, which asciinema can play. Input
    appears in the recording only where the program echoed it.`,
  options: { output: { type: "string", short: "o" }, svg: { type: "string" } },
  help: {
    output: "FILE: Write the recording to FILE (default: stdout)",
    svg: "FILE: Write an animated SVG image instead (- for stdout)",
  },
  examples: [
    ["Save a recording", "sallyport record -o editor.cast editor"],
    ["Play a recording", "sallyport record editor | asciinema play -"],
    ["Save an animated image", "sallyport record --svg editor.svg editor"],
  ],
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const session = await gateway.find(onlySession(invocation));
      const { output, svg } = invocation.values;
      if (typeof svg === "string") await draw(session, svg, invocation.io);
      else if (typeof output === "string" && output !== "-") await toFile(session, output);
      else await toStdout(session, invocation.io);
      return 0;
    }),
};

async function draw(session: SessionHandle, path: string, io: Io): Promise<void> {
  const { replay } = await import("../../../session/terminal/render/replay.ts");
  const { movieSvg } = await import("../../../session/terminal/render/svg.ts");
  const picture = movieSvg(await replay(session.recording()));
  if (path === "-") return io.out(picture);
  try {
    writeFileSync(path, picture);
  } catch (error) {
    throw new UsageError(`cannot write \`${path}\`: ${(error as Error).message}`);
  }
}

async function toStdout(session: SessionHandle, io: Io): Promise<void> {
  for await (const line of session.recording()) {
    io.out(line);
    await io.drained();
  }
}

async function toFile(session: SessionHandle, path: string): Promise<void> {
  const lines = session.recording()[Symbol.asyncIterator]();
  // Reads the first line before it creates the file, so that no file is left for a session without a terminal.
  let next = await lines.next();
  const file = createWriteStream(path);
  const done = finished(file).catch((error: Error) => {
    throw new UsageError(`cannot write \`${path}\`: ${error.message}`);
  });
  // The error is handled below. Without this, it would be an unhandled rejection first.
  done.catch(() => {});
  for (; !next.done && !file.errored; next = await lines.next()) {
    if (!file.write(next.value)) await Promise.race([once(file, "drain"), done]);
  }
  file.end();
  await done;
}
