import { once } from "node:events";
import { createWriteStream, writeFileSync } from "node:fs";
import { finished } from "node:stream/promises";
import type { SessionHandle } from "../../../core/gateway.ts";
import { type Command, type Io, UsageError } from "../../command.ts";
import { withGateway } from "../../open.ts";
import { onlySession } from "./session-arguments.ts";

export const record: Command = {
  name: "record",
  summary: "Export what was on the terminal of a session, to be played back",
  usage: "sallyport record [-o FILE] [--svg FILE] SESSION",
  options: { output: { type: "string", short: "o" }, svg: { type: "string" } },
  help: {
    output: "FILE: write it there instead of to stdout",
    svg: "FILE: draw it as a moving picture of text instead (- is stdout)",
  },
  examples: [
    "sallyport record -o editor.cast editor",
    "sallyport record editor | asciinema play -",
    "sallyport record --svg editor.svg editor",
  ],
  notes: `An asciicast of version 2: every output with its time, and every change of size, up to now.
What was typed is in it as far as the program showed it.`,
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
  // The first line before the file: of a session without a terminal none is made.
  let next = await lines.next();
  const file = createWriteStream(path);
  const done = finished(file).catch((error: Error) => {
    throw new UsageError(`cannot write \`${path}\`: ${error.message}`);
  });
  // Awaited below; a file that cannot be written must not end the program before that.
  done.catch(() => {});
  for (; !next.done && !file.errored; next = await lines.next()) {
    if (!file.write(next.value)) await Promise.race([once(file, "drain"), done]);
  }
  file.end();
  await done;
}
