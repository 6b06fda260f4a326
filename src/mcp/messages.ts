import { NAME_LENGTH } from "../core/output-limits.ts";
import type { Failure } from "../text/error-text.ts";
import { shownLine } from "../text/shown-text.ts";

/** What a model is told about the server as a whole. */
export function instructions(workspace: string): string {
  return [
    `Commands run on this machine, in ${shownLine(workspace)} unless they say otherwise. Each is judged before it runs:`,
    "what is refused names a rule, and writing it differently does not help.",
    "What needs a person's approval waits for them; if they have not decided in time the answer says so, and calling the",
    "same again waits on.",
    "A command that outlasts a call's patience runs on as a session, and the answer says how to wait for it.",
    "Sessions and their output are also resources: sallyport://session/{id} and its /output, /stdout and /stderr.",
  ].join(" ");
}

export function unknownTool(name: string): string {
  return `There is no tool ${JSON.stringify(name.slice(0, NAME_LENGTH))}; tools/list names those there are.`;
}

export function noSuchResource(uri: string): string {
  return `There is no resource ${JSON.stringify(uri.slice(0, NAME_LENGTH))}; resources/list names those there are.`;
}

export function unexpected(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const hint = "This should not happen. The server's stderr may tell more; start it with SALLYPORT_DEBUG=1.";
  return { type: "Unexpected", message, recovery: [{ action: "report", hint }] };
}
