/** Models `cat`, `tee` and `base64`, which pass on what they read. */
import { normalize } from "../path.ts";
import type { Call } from "../walk/call.ts";
import type { StreamContent } from "../walk/state.ts";
import { contentOf, fileContent, joinContents, unmodeledOutput, writeTargets } from "../walk/streams.ts";

/** Models `cat`, which prints its standard input, or the contents of its operands one after the other. */
export function cat(call: Call): void {
  const operands = call.argv
    .slice(1)
    .filter((word) => word.value === "-" || !(word.value ?? word.prefix).startsWith("-"));
  const stdin = call.stdin.kind === "none" ? unmodeledOutput(call) : call.stdin;
  const contents = operands.map((word): StreamContent => {
    if (word.value === "-") return stdin;
    const path = word.shape === null || word.glob ? null : normalize(word.shape, call.cwd);
    return path === null ? unmodeledOutput(call) : (contentOf(call, path) ?? fileContent(path));
  });
  call.output = operands.length === 0 ? stdin : joinContents(call.walk, contents);
}

/** Models `tee`, which prints its standard input and writes it to its operands. */
export function tee(call: Call): void {
  if (call.stdin.kind === "none") return;
  call.output = call.stdin;
  const append = call.argv.some((word) => /^(?:-[a-z]*a|--append)/.test(word.value ?? ""));
  writeTargets(
    call.walk,
    call.fact.targets.flatMap(({ path, effect }) => (effect === "write" ? [{ path, append }] : [])),
    call.stdin,
  );
}

/** Models `base64 -d`, whose output is often run as code. */
export function base64(call: Call): void {
  const feed = call.stdin;
  const operands = call.argv.slice(1).filter((word) => !(word.value ?? "-").startsWith("-"));
  const decodes = call.argv.some((word) => /^(?:-[a-zA-Z]*[dD]|--d[a-z]*)$/.test(word.value ?? ""));
  if (!decodes || operands.length > 0 || feed.kind !== "text" || feed.pattern) return;
  const why = "it is decoded from another text";
  const uncertain = feed.uncertain ?? { span: call.fact.span, why };
  call.output = { ...feed, text: Buffer.from(feed.text, "base64").toString(), field: null, uncertain };
}
