/** A JSON object of a host. */
export type HostObject = Readonly<Record<string, unknown>>;

/** A call of a tool that runs commands. */
export interface CommandCall {
  kind: "commands";
  /** The host's ID of the conversation. */
  session: string;
  /** The working directory of the command. */
  cwd: string;
  /** The folder of the project, if the host tells it. */
  project: string | null;
  commands: string[];
  /** Whether the host lets its agent only read, as in its plan mode. */
  readOnly: boolean;
  /** Whether the host can show a question to a person now, and does not answer it itself. */
  canAsk: boolean;
}

export type HookCall = CommandCall | { kind: "other" };

export type HookDecision =
  /** The host decides as without a hook. */
  | { kind: "pass" }
  /** The commands run, in place of those of the call. */
  | { kind: "run"; commands: string[] }
  /** The host asks its user, and runs the commands if the user agrees. */
  | { kind: "ask"; commands: string[]; reason: string }
  | { kind: "deny"; reason: string };

/** What a hook writes, and how it exits. */
export interface HookAnswer {
  stdout: string;
  stderr: string;
  code: number;
}

/** The events and answers of the hooks of one agent host. */
export interface HookFormat {
  /** The name on the command line. */
  name: string;
  /** Whether the working directory at the end of a command is that of the next one. */
  keepsDirectory: boolean;
  /** Whether the host runs what the hook answers. If not, commands run only when its shell is Sallyport's. */
  rewrites: boolean;
  /** Reads an event. Throws UnknownEvent. */
  read(event: HostObject, env: Readonly<Record<string, string | undefined>>): HookCall;
  answer(event: HostObject, decision: HookDecision): HookAnswer;
  /** What a shell runs when the hook itself could not: the hook program is missing or was killed. */
  failure: { stdout: string; stderr: string; code: number };
}

/** The event is not one that the hook is made for. The command that it may contain is denied. */
export class UnknownEvent extends Error {}

export function textField(object: HostObject, name: string): string {
  const value = object[name];
  if (typeof value !== "string") throw new UnknownEvent(`the event has no text in \`${name}\``);
  return value;
}

export function objectField(object: HostObject, name: string): HostObject {
  const value = object[name];
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UnknownEvent(`the event has no object in \`${name}\``);
  return value as HostObject;
}

export const FAILED = "Sallyport could not check this command, so it was not run.";

/** An answer whose exit code and stderr say that the command is denied. */
export function refusal(reason: string): HookAnswer {
  return { stdout: "", stderr: `${reason}\n`, code: 2 };
}

export function json(value: object): HookAnswer {
  return { stdout: `${JSON.stringify(value)}\n`, stderr: "", code: 0 };
}

export const NOTHING: HookAnswer = { stdout: "", stderr: "", code: 0 };

/** Names of input fields that contain commands in the tools of known hosts. */
const COMMAND_FIELDS = ["command", "commands", "cmd", "script", "shell_command"];

/**
 * Throws for a tool that is not known and whose input has a field that contains a command. Other tools that are not known
 * are left to the host: it calls its hooks for tools that only read or edit files too.
 */
export function assertRunsNothing(tool: string, input: unknown): void {
  if (typeof input !== "object" || input === null) return;
  const field = COMMAND_FIELDS.find((name) => Object.hasOwn(input, name));
  if (field === undefined) return;
  throw new UnknownEvent(`the tool \`${tool}\` is not known, and its input has a \`${field}\``);
}
