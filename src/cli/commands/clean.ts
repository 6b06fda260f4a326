import type { Retention } from "../../core/gateway.ts";
import { formatSize } from "../../text/format.ts";
import type { Command, Invocation } from "../command.ts";
import { printJson, progressLine } from "../io.ts";
import { withGateway } from "../open.ts";
import { countOption, durationOption, sizeOption } from "../options.ts";

export const clean: Command = {
  name: "clean",
  summary: "Remove old sessions to free disk space",
  usage: "sallyport clean [OPTIONS]",
  description: `
    Removes finished sessions and their logs, oldest first. Without options, applies the configured retention. Running
    sessions are never removed.`,
  options: {
    "older-than": { type: "string" },
    keep: { type: "string" },
    "max-bytes": { type: "string" },
  },
  help: {
    "older-than": "DUR: Remove sessions that ended more than this time ago",
    keep: "N: Keep only the N latest sessions",
    "max-bytes": "SIZE: Remove the oldest sessions until the logs take at most this much space",
    json: "Print {removed: [ids], freedBytes}",
  },
  examples: [
    ["Apply the configured retention", "sallyport clean"],
    ["Remove sessions that ended more than a week ago", "sallyport clean --older-than 7d"],
    ["Keep at most 100 sessions and 1 GiB of logs", "sallyport clean --keep 100 --max-bytes 1G"],
    ["Remove all finished sessions", "sallyport clean --keep 0"],
  ],
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const progress = progressLine("sessions", invocation.io);
      const { removed, freedBytes } = await gateway.clean(retention(invocation.values), progress.show);
      progress.remove();
      if (invocation.values.json) printJson({ removed, freedBytes }, invocation.io);
      else
        invocation.io.err(
          `Removed ${removed.length === 1 ? "1 session" : `${removed.length} sessions`} and freed ${formatSize(freedBytes)}.\n`,
        );
      return 0;
    }),
};

/** Returns the limits given as options. For the gateway 0 means no limit; in an option it means to keep nothing. */
function retention(values: Invocation["values"]): Partial<Retention> | undefined {
  const ageMs = durationOption(values, "older-than");
  const count = countOption(values, "keep");
  const bytes = sizeOption(values, "max-bytes");
  if (ageMs === undefined && count === undefined && bytes === undefined) return undefined;
  if (ageMs === 0 || count === 0 || bytes === 0) return { maxAgeMs: 1, maxCount: 0, maxBytes: 0 };
  return { maxAgeMs: ageMs ?? 0, maxCount: count ?? 0, maxBytes: bytes ?? 0 };
}
