import type { Retention } from "../../core/gateway.ts";
import { formatSize } from "../../text/format.ts";
import type { Command, Invocation } from "../command.ts";
import { printJson, progressLine } from "../io.ts";
import { withGateway } from "../open.ts";
import { countOption, durationOption, sizeOption } from "../options.ts";

export const clean: Command = {
  name: "clean",
  summary: "Forget old sessions and free their disk space",
  usage: "sallyport clean [OPTIONS]",
  options: {
    "older-than": { type: "string" },
    keep: { type: "string" },
    "max-bytes": { type: "string" },
  },
  help: {
    "older-than": "DUR: forget what ended longer ago than this",
    keep: "N: keep only the N latest",
    "max-bytes": "SIZE: forget the oldest until the logs take at most this much",
    json: "print {removed: [ids], freedBytes}",
  },
  examples: ["sallyport clean", "sallyport clean --older-than 7d", "sallyport clean --keep 100 --max-bytes 1G"],
  notes: "Without options the usual retention applies. Running sessions are never touched.",
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const progress = progressLine("sessions", invocation.io);
      const { removed, freedBytes } = await gateway.clean(retention(invocation.values), progress.show);
      progress.remove();
      if (invocation.values.json) printJson({ removed, freedBytes }, invocation.io);
      else
        invocation.io.err(
          `Removed ${removed.length === 1 ? "1 session" : `${removed.length} sessions`}, ${formatSize(freedBytes)} freed.\n`,
        );
      return 0;
    }),
};

/** Only the limits that were named. The gateway takes 0 as "no limit"; here it means "keep nothing". */
function retention(values: Invocation["values"]): Partial<Retention> | undefined {
  const ageMs = durationOption(values, "older-than");
  const count = countOption(values, "keep");
  const bytes = sizeOption(values, "max-bytes");
  if (ageMs === undefined && count === undefined && bytes === undefined) return undefined;
  if (ageMs === 0 || count === 0 || bytes === 0) return { maxAgeMs: 1, maxCount: 0, maxBytes: 0 };
  return { maxAgeMs: ageMs ?? 0, maxCount: count ?? 0, maxBytes: bytes ?? 0 };
}
