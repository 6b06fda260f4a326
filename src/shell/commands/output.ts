/** Programs nobody listed: an absolute path after an option that usually names an output file is taken for one. */

import { tail } from "../expand/field.ts";
import { type Call, target } from "../walk/call.ts";

/** `-o` means something else to these. */
const OTHERWISE = /^(?:[efz]?grep|rg|ag|ack|find|test|\[|ssh|mount|ps|ls|lsblk|stat|echo|printf|git)$/;
const OUTPUT =
  /^--?(?:o|out|outfile|out-file|output|output-file|outdir|out-dir|output-dir|dest|destination|logfile|log-file|target-dir|install-dir)$/;

export function outputOption(call: Call): void {
  if (OTHERWISE.test(call.name)) return;
  for (const [index, field] of call.argv.entries()) {
    const text = field.value ?? field.prefix;
    if (index === 0 || text[0] !== "-") continue;
    const equals = text.indexOf("=");
    const following = call.argv[index + 1];
    if (equals > 0 && OUTPUT.test(text.slice(0, equals)) && text[equals + 1] === "/")
      target(call, "write", tail(field, equals + 1), false);
    else if (OUTPUT.test(text) && following?.value?.startsWith("/")) target(call, "write", following, false);
  }
}
