import { realpathSync } from "node:fs";
import type { Readable } from "node:stream";
import { callerEnv } from "../../../core/caller.ts";
import { SallyportError } from "../../../core/error.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { directoryFileOf, type HostCall, saveCall, workspaceOf } from "../../../hosts/calls.ts";
import {
  type CommandCall,
  HOOK_FORMATS,
  type HookAnswer,
  type HookFormat,
  type HostObject,
  UnknownEvent,
} from "../../../hosts/hooks/index.ts";
import { hasOwnShell, ownProgram } from "../../../hosts/own-shell.ts";
import { quoteArgv, quoteWord } from "../../../shell/quote.ts";
import { openStateFolder } from "../../../storage/state-folder.ts";
import { failureText } from "../../../text/error-text.ts";
import { type Command, type Invocation, UsageError } from "../../command.ts";
import { OutputLost } from "../../io.ts";
import { CLI_WORDING } from "../../next-steps.ts";
import { stateFolder, withGateway } from "../../open.ts";
import { textOption } from "../../options.ts";
import { hostHasUser } from "./host-user.ts";
import { assertOwnFoldersOutside } from "./own-folders.ts";

/** The longest event. Those of tools that write files contain the files. */
const MAX_EVENT_BYTES = 32 << 20;
/** How long a decision may take. Hosts wait for at least 30 s, and most of them then run the command. */
const DEADLINE_MS = 20_000;

const ABOUT: Readonly<Record<string, string>> = {
  "claude-code": "PreToolUse; asks its user; the working directory carries over",
  codex: "PreToolUse",
  gemini: "BeforeTool; asks its user",
  qwen: "PreToolUse; runs nothing unless its shell is sallyport-sh",
  opencode: "A plugin that calls this command",
  copilot: "preToolUse; the working directory carries over",
  cursor: "preToolUse",
  cline: "PreToolUse",
};

export const hook: Command = {
  name: "hook",
  summary: "Answer the hook of an agent host before it runs a command",
  usage: "sallyport hook HOST",
  description: `
    Reads an event of the hook of HOST on stdin and answers in the host's format. A command is denied with the reason,
    or replaced by one that runs it with \`sallyport-sh\`, so that it is recorded and sandboxed. Where policy requires
    approval and the host can ask its user, the host asks; the answer is valid for this call only. Tools that run no
    commands are left to the host. Any failure denies the command.

    Hosts call this command; \`docs/hooks.md\` describes how to configure it.`,
  options: {},
  sections: {
    Hosts: HOOK_FORMATS.map(({ name }) => [name, ABOUT[name] ?? ""] as const),
    "Exit status": [
      ["0", "The answer is on stdout; it may be a denial"],
      ["2", "The command is denied, because the hook failed or the host has no other form"],
    ],
  },
  examples: [
    ["Show the answer to a recorded event of Claude Code", "sallyport hook claude-code < event.json"],
    ["Answer as the agent `builder`, whose settings then apply", "sallyport hook codex --agent builder < event.json"],
  ],
  failureCode: 2,
  run: async (invocation) => {
    const format = formatOf(invocation.positionals);
    if (invocation.io.isDiscarded) throw new OutputLost("it is closed, or /dev/null");
    const { stdout, stderr, code } = await answerInTime(format, invocation);
    invocation.io.err(stderr);
    invocation.io.out(stdout);
    return code;
  },
};

function formatOf([name, unexpected]: string[]): HookFormat {
  if (unexpected !== undefined) throw new UsageError(`unexpected argument \`${unexpected}\``);
  const format = HOOK_FORMATS.find((each) => each.name === name);
  if (format) return format;
  const names = HOOK_FORMATS.map((each) => each.name).join(", ");
  throw new UsageError(
    name === undefined ? `no host given; use one of ${names}` : `\`${name}\` is not one of ${names}`,
  );
}

/** Answers, or denies when this fails, takes too long or is interrupted. */
async function answerInTime(format: HookFormat, invocation: Invocation): Promise<HookAnswer> {
  let event: HostObject = {};
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  let stop = (_: string): void => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = (why) => reject(new UnknownEvent(why));
  });
  stopped.catch(() => {});
  const timer = setTimeout(() => stop("checking it took too long"), DEADLINE_MS);
  const interrupted = () => stop("the check was interrupted");
  for (const signal of signals) process.on(signal, interrupted);
  try {
    const answered = (async () => {
      event = parseEvent(await readAll(invocation.io.stdin));
      return decide(format, event, invocation);
    })();
    return await Promise.race([answered, stopped]);
  } catch (error) {
    return format.answer(event, { kind: "deny", reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
    for (const signal of signals) process.off(signal, interrupted);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SallyportError) return failureText(error, CLI_WORDING);
  const why = error instanceof Error ? error.message : String(error);
  return `sallyport: the command was not run: ${why}`;
}

async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk as Uint8Array);
    length += bytes.length;
    if (length > MAX_EVENT_BYTES) throw new UnknownEvent(`the event is longer than ${MAX_EVENT_BYTES >> 20} MiB`);
    chunks.push(bytes);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

function parseEvent(text: string): HostObject {
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    throw new UnknownEvent("the event is not JSON");
  }
  if (typeof event !== "object" || event === null || Array.isArray(event))
    throw new UnknownEvent("the event is not a JSON object");
  return event as HostObject;
}

async function decide(format: HookFormat, event: HostObject, invocation: Invocation): Promise<HookAnswer> {
  const call = format.read(event, callerEnv());
  if (call.kind === "other") return format.answer(event, { kind: "pass" });
  const state = openStateFolder(stateFolder(invocation.values));
  const first = realpathSync.native(call.project ?? call.cwd);
  const workspace = workspaceOf(state, { host: format.name, session: call.session }, first);
  assertOwnFoldersOutside(workspace, state);
  if (!format.rewrites) return leaveToShell(format, event, workspace);
  const prepared = await withGateway(
    invocation,
    async (gateway) => {
      const all: Prepared[] = [];
      for (const command of call.commands) all.push(await prepare(gateway, command, call));
      return all;
    },
    { workspace },
  );
  const refused = prepared.find(({ refusal }) => refusal !== null);
  if (refused?.refusal) return format.answer(event, { kind: "deny", reason: refused.refusal });
  const commands = prepared.map(({ command, asked }) =>
    rewritten(state, textOption(invocation.values, "agent"), {
      host: format.name,
      command,
      cwd: call.cwd,
      workspace,
      readOnly: call.readOnly,
      keepsDirectory: format.keepsDirectory,
      asked,
    }),
  );
  const question = prepared.flatMap(({ question: each }) => each ?? []).join("\n");
  if (question === "") return format.answer(event, { kind: "run", commands });
  return format.answer(event, { kind: "ask", commands, reason: question });
}

/** A host that ignores what a hook answers runs commands with its own shell, which must then be Sallyport's. */
function leaveToShell(format: HookFormat, event: HostObject, workspace: string): HookAnswer {
  if (hasOwnShell(callerEnv().PATH ?? "", workspace)) return format.answer(event, { kind: "run", commands: [] });
  const reason = `sallyport: the command was not run: ${format.name} does not run what its hook answers, and \`bash\` on its PATH is not Sallyport's shell. Ask the user to run \`sallyport setup ${format.name} --mode shell\`.`;
  return format.answer(event, { kind: "deny", reason });
}

interface Prepared {
  command: string;
  refusal: string | null;
  /** What the host asks its user. Null when it does not. */
  question: string | null;
  asked: HostCall["asked"];
}

async function prepare(gateway: Gateway, command: string, call: CommandCall): Promise<Prepared> {
  if (!command.isWellFormed()) throw new UnknownEvent("the command is not valid Unicode text");
  if (command.trim() === "") throw new UnknownEvent("the command is empty");
  const request = { command, cwd: call.cwd, ...(call.readOnly ? { sandbox: "read-only" as const } : {}) };
  // One question per call: the host cannot answer for each of several commands.
  const ask = call.canAsk && call.commands.length === 1 && hostHasUser();
  const found = await gateway.prepare(request, { ask });
  if (found.verdict === "refused") {
    return { command, refusal: failureText(found.refusal.error, CLI_WORDING), question: null, asked: null };
  }
  if (found.approvalId === null) return { command, refusal: null, question: null, asked: null };
  const { request: shown } = gateway.approvals.get(found.approvalId);
  const why = shown.reasons.map(({ message }) => message).join(" ");
  return {
    command,
    refusal: null,
    question: `Sallyport asks: ${why} Command: ${shown.command.text}`,
    asked: { approval: found.approvalId, env: found.plan.env },
  };
}

/** Returns the command that the host runs instead, which runs the original one once. */
function rewritten(state: string, agent: string | undefined, call: HostCall): string {
  const id = saveCall(state, call);
  const globals = ["--state", state, ...(agent === undefined ? [] : ["--agent", agent])];
  const run = quoteArgv([...ownProgram(), ...globals, "sh", `--sallyport-call=${id}`, "-c", call.command]);
  if (!call.keepsDirectory) return run;
  // The host's shell follows, so that the host sees where the command has ended. As for a `cd` of its own, only if the
  // command succeeds.
  const file = quoteWord(directoryFileOf(state, id));
  // Only with what bash and zsh have built in: the host's shell is not sandboxed, and a folder on its PATH may be the agent's.
  return `${run} && { { cd -- "$(<${file})"; } 2>/dev/null || :; }`;
}
