import { quoteArgv } from "../../shell/quote.ts";
import { type HookScript, hookCommandLine, readHookCommandLine, WRITTEN_BY } from "./command-line.ts";
import {
  assertRunsNothing,
  FAILED,
  type HookFormat,
  type HostObject,
  json,
  objectField,
  textField,
  UnknownEvent,
} from "./format.ts";

/** Names of the shell tool: that of the host, and those of earlier versions and other models that it accepts. */
const SHELL_TOOLS = new Set(["run_commands", "execute_command", "bash"]);
/** Stops the agent of the host: the model gets no result. */
const stop = (reason: string) => json({ cancel: true, errorMessage: reason });
/** Runs a command that only says why, so that the model learns the reason and continues. */
const explain = (reason: string) =>
  json({ overrideInput: { commands: [quoteArgv(["printf", "%s\\n", reason]) + REFUSED] } });
const REFUSED = " >&2; exit 126";

/** PreToolUse of Cline 3.0, which it calls `tool_call` in the event. */
export const cline: HookFormat = {
  name: "cline",
  keepsDirectory: false,
  rewrites: true,
  read: (event) => {
    const name = textField(event, "hookName");
    if (name !== "tool_call" && name !== "PreToolUse")
      throw new UnknownEvent(`the event is \`${name}\`, not \`tool_call\``);
    const call = objectField(event, "tool_call");
    const tool = textField(call, "name");
    if (!SHELL_TOOLS.has(tool)) {
      assertRunsNothing(tool, call.input);
      return { kind: "other" };
    }
    const [cwd] = Array.isArray(event.workspaceRoots) ? (event.workspaceRoots as unknown[]) : [];
    if (typeof cwd !== "string") throw new UnknownEvent("the event has no folder in `workspaceRoots`");
    const session = textField(event, "taskId");
    return {
      kind: "commands",
      session,
      cwd,
      project: cwd,
      commands: commandsOf(call.input),
      readOnly: false,
      canAsk: false,
    };
  },
  answer: (event, decision) => {
    if (decision.kind === "pass") return json({});
    if (decision.kind === "deny") return (isShellCall(event) ? explain : stop)(decision.reason);
    return json({ overrideInput: { commands: decision.commands } });
  },
  failure: stop(FAILED),
};

/** The program that Cline runs before each tool call: it looks for a file with the name of the event. */
export const clineScript: HookScript = {
  write: (program) => `#!/bin/sh
# Sends each command to Sallyport, which decides on it and runs it in a sandbox.
# ${WRITTEN_BY}; \`sallyport setup cline --remove\` deletes it.
${hookCommandLine(cline, program)}
`,
  read(text) {
    const found = text.split("\n").flatMap((line) => readHookCommandLine(cline, line) ?? []);
    const [first] = found;
    return first ? { ...first, failsClosed: this.write(first) === text } : null;
  },
};

function isShellCall({ tool_call: call }: HostObject): boolean {
  return SHELL_TOOLS.has(String((call as HostObject | undefined)?.name));
}

/** Returns the commands of a call in the forms that the host accepts: a text, a list, or an object with either. */
function commandsOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (Array.isArray(input)) return (input as unknown[]).map(commandOf);
  if (typeof input === "object" && input !== null) {
    const { commands, command, cmd } = input as HostObject;
    if (Array.isArray(commands)) return (commands as unknown[]).map(commandOf);
    if (commands !== undefined) return [commandOf(commands)];
    if (command !== undefined) return [commandOf(input)];
    if (typeof cmd === "string") return [cmd];
  }
  throw new UnknownEvent("the input of the tool has no commands");
}

/** Returns a command as shell text: a text as it is, or a program with its arguments. */
function commandOf(item: unknown): string {
  if (typeof item === "string") return item;
  if (typeof item === "object" && item !== null) {
    const { command, args = null } = item as HostObject;
    if (typeof command === "string" && args === null) return command;
    if (typeof command === "string" && Array.isArray(args) && args.every((each) => typeof each === "string")) {
      return quoteArgv([command, ...(args as string[])]);
    }
  }
  throw new UnknownEvent("the input of the tool has a command of an unknown form");
}
