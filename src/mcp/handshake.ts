/**
 * The answer to `initialize`. Loading the MCP SDK takes longer than all else that a host waits for at the handshake, so
 * this answers the plain requests that hosts send; the SDK, which is loaded afterwards, answers all others.
 */
import { packageVersion } from "../core/version.ts";
import { formatDuration } from "../text/format.ts";
import { shownLine } from "../text/visible.ts";
import type { AgentOptions } from "./agent-context.ts";

/** The protocol versions of the hosts that use `initialize`. The SDK negotiates a version with other clients. */
const VERSIONS: readonly unknown[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

export const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} };

export function serverInfo() {
  return { name: "sallyport", title: "Sallyport", version: packageVersion() };
}

/** Returns the instructions of the server for the model: what it must know before its first call. */
export function instructions({
  workspace,
  answerWithinMs,
}: Pick<AgentOptions, "workspace" | "answerWithinMs">): string {
  return [
    // Toolsets can be enabled and disabled while the server runs, and instructions are sent only once.
    "If no tools are listed, the operator has disabled them: no command can run, and the rest of this text does not",
    `apply. Otherwise, the tools run commands on this machine, in ${shownLine(workspace)} unless you set another working directory.`,
    "By default commands can write only to that folder and to /tmp, which is private to your commands and kept between",
    "them. Each command starts in a new shell: `cd` and exported variables do not carry over.",
    "Processes that a foreground command leaves running are terminated; start servers in the background.",
    `A call returns after at most ${formatDuration(answerWithinMs)}. A command that takes longer keeps running, and the result says how to get the rest.`,
    "Every command is checked against a policy. If a command is blocked or denied, report it; do not rewrite it to get",
    "around the rule. Some commands require a person's approval, which neither you nor a command can give: tell the user,",
    "then repeat the same call to wait for the decision.",
    "The output of each command is also the resource sallyport://session/{id}/output.",
  ].join(" ");
}

/** A response to `initialize`. */
export interface Greeting {
  jsonrpc: "2.0";
  id: string | number;
  result: {
    protocolVersion: string;
    capabilities: typeof CAPABILITIES;
    serverInfo: ReturnType<typeof serverInfo>;
    instructions: string;
  };
}

/**
 * Returns the response to a message, the same that the SDK gives, or null if the SDK must answer: to any other message,
 * and to a request that is invalid or has fields that are not known here.
 */
export function greetingFor(
  message: unknown,
  options: Pick<AgentOptions, "workspace" | "answerWithinMs">,
): Greeting | null {
  if (!hasOnly(message, { jsonrpc: is("2.0"), id: isId, method: is("initialize"), params: isPlainRequest }))
    return null;
  const { id, params } = message as { id: string | number; params: { protocolVersion: string } };
  return {
    jsonrpc: "2.0",
    id,
    result: {
      protocolVersion: params.protocolVersion,
      capabilities: CAPABILITIES,
      serverInfo: serverInfo(),
      instructions: instructions(options),
    },
  };
}

type Check = (value: unknown) => boolean;

const is =
  (expected: string): Check =>
  (value) =>
    value === expected;
const isText: Check = (value) => typeof value === "string";
const isOptionalText: Check = (value) => value === undefined || isText(value);
const isOptionalBoolean: Check = (value) => value === undefined || typeof value === "boolean";
const isId: Check = (value) => isText(value) || Number.isSafeInteger(value);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports whether a value is an object with the given fields and no others. */
function hasOnly(value: unknown, fields: Record<string, Check>): boolean {
  if (!isObject(value)) return false;
  return (
    Object.keys(value).every((name) => Object.hasOwn(fields, name)) &&
    Object.entries(fields).every(([name, check]) => check(Object.hasOwn(value, name) ? value[name] : undefined))
  );
}

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const isOptionalObject = optional(isObject);
const isRecordOfObjects: Check = (value) => isObject(value) && Object.values(value).every(isObject);

const isPlainCapabilities: Check = (value) =>
  hasOnly(value, {
    experimental: optional(isRecordOfObjects),
    extensions: optional(isRecordOfObjects),
    roots: optional((roots) => hasOnly(roots, { listChanged: isOptionalBoolean })),
    sampling: optional((sampling) => hasOnly(sampling, { context: isOptionalObject, tools: isOptionalObject })),
    elicitation: optional((elicitation) =>
      hasOnly(elicitation, {
        form: optional((form) => hasOnly(form, { applyDefaults: isOptionalBoolean })),
        url: isOptionalObject,
      }),
    ),
  });

const isPlainRequest: Check = (value) =>
  hasOnly(value, {
    protocolVersion: (version) => VERSIONS.includes(version),
    capabilities: isPlainCapabilities,
    clientInfo: (info) =>
      hasOnly(info, {
        name: isText,
        version: isText,
        title: isOptionalText,
        description: isOptionalText,
        websiteUrl: isOptionalText,
      }),
  });
