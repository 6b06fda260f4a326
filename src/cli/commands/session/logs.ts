import type { Command } from "../../command.ts";
import { logQuery } from "../../log-query.ts";
import { logWriter } from "../../log-writer.ts";
import { withGateway } from "../../open.ts";
import { UsageError } from "../../usage-error.ts";

export const logs: Command = {
  name: "logs",
  summary: "Print what a session wrote",
  usage: "sallyport logs [OPTIONS] SESSION",
  options: {
    follow: { type: "boolean", short: "f" },
    tail: { type: "string", short: "n" },
    lines: { type: "string" },
    since: { type: "string" },
    stream: { type: "string" },
    times: { type: "boolean", short: "t" },
    offset: { type: "string" },
    limit: { type: "string" },
  },
  help: {
    follow: "go on with what is written from now on, until the session ends",
    tail: "N: only the last N lines",
    lines: "A:B: only lines A to B, counted from 1 (10:20, 10:, :20, -20:)",
    since: "WHEN: only what came since then: a time, or a duration ago such as 5m",
    stream: "NAME: only stdout or stderr, or merged: both in the order they came",
    times: "say before each line when it came, and by which stream",
    offset: "N: start at this byte of the stream",
    limit: "N: print at most this many bytes",
    json: "print a JSON line per piece: {stream, offset, time, text|base64, dropped}",
  },
  choices: { stream: ["stdout", "stderr", "merged"] },
  examples: [
    "sallyport logs web",
    "sallyport logs -f --tail 20 web",
    "sallyport logs -ft web",
    "sallyport logs --stream stderr --since 10m web",
    "sallyport logs --lines 100:120 web",
  ],
  notes: `Without --stream, what the command wrote to stdout goes to stdout and the rest to stderr;
with it, or with --times, everything goes to stdout. Bytes are passed on as they are; on a
terminal what came by stderr is red.`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, io } = invocation;
      const [reference, ...more] = [...invocation.positionals, ...(invocation.rest ?? [])];
      if (reference === undefined) throw new UsageError("which session? Give an id, the beginning of one, or a name");
      if (more.length > 0) throw new UsageError(`one session at a time; received \`${more[0]}\` as well`);
      const session = await gateway.find(reference);
      const query = logQuery(values, Date.now());
      if (values.json && values.times) throw new UsageError("`--json` has the times already; leave `--times` out");
      if (values.follow && (query.limit !== undefined || query.toLine !== undefined)) {
        throw new UsageError("`--follow` goes on to the end; it takes neither `--limit` nor a last line");
      }
      const way = values.json ? "json" : values.times ? "times" : query.stream ? "together" : "apart";
      const write = logWriter(way, io);
      const chunks = values.follow ? session.follow(query) : session.read(query);
      for await (const chunk of chunks) {
        write(chunk);
        await io.drained();
      }
      return 0;
    }),
};
