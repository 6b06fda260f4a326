/**
 * Next steps as data. The sentence for a step depends on where it is read: the library has methods, the command line has
 * commands, a toolset has tools and parameters. An error therefore carries the step and its arguments, and each surface
 * words them with its own `Wording` (invariant 8). Hints without a step name nothing that depends on the surface.
 */
import type { Recovery } from "./error.ts";
import type { Access, Step, StepArguments, StepName } from "./step.ts";

/** The sentence of a surface for each step. Null when the reader of that surface cannot take the step. */
export type Wording = { [Name in StepName]: (args: StepArguments[Name]) => string | null };

/** Returns a recovery for a step, with the sentence of the library as its hint. */
export function nextStep(action: string, step: Step): Recovery {
  return { action, hint: wordStep(step, LIBRARY_WORDING) ?? "", step };
}

/** Returns a recovery that only the operator can carry out. */
export function operatorStep(action: string, hint: string): Recovery {
  return nextStep(action, { name: "operator", hint });
}

function wordStep(step: Step, wording: Wording): string | null {
  const word = wording[step.name] as ((args: Step) => string | null) | undefined;
  return word ? word(step) : null;
}

/** Returns the recoveries in the words of a surface, without those that its reader cannot carry out. */
export function worded(recovery: readonly Recovery[], wording: Wording): Recovery[] {
  return recovery.flatMap(({ action, hint, step }) => {
    const sentence = step ? wordStep(step, wording) : hint;
    return sentence === null ? [] : [{ action, hint: sentence }];
  });
}

const RAISE = (key: string) => `The operator can raise \`${key}\` in sallyport.json.`;

/** Returns the sentence about what the sandbox denied. `request` says how the reader can request the access. */
export function deniedText(
  { why, instead, access }: StepArguments["denied-by-sandbox"],
  request: (access: Access) => string,
): string {
  const ways = [instead, access && request(access)].filter((way) => way !== null);
  return `Probably denied by the sandbox: ${[why, ...(ways.length > 0 ? [ways.join(", or ")] : [])].join("; ")}.`;
}

/** Says how the operator can grant the access for every command. */
export function configureAccess(access: Access): string {
  switch (access.field) {
    case "writable":
      return `ask the operator to add ${JSON.stringify(access.path)} to \`writable\` in sallyport.json`;
    case "sandbox":
      return "ask the operator to run the command";
    case "network":
      return "ask the operator to set `network` in sallyport.json";
    case "sockets":
      return "ask the operator to add it to `sockets` in sallyport.json";
  }
}

/** The sentences for callers of the library. */
export const LIBRARY_WORDING: Wording = {
  "list-sessions": () => "List all sessions with `gateway.list()`.",
  "show-session": ({ session }) => `Read its status and exit code with \`gateway.session("${session}").info()\`.`,
  "remove-session": ({ session }) => `Or remove the old session with \`gateway.session("${session}").remove()\`.`,
  "stop-session": () => "Stop it first with `kill()`, or remove it with `remove({ force: true })`.",
  "stop-some-sessions": () => "List the running sessions with `gateway.list()` and stop those that are not needed.",
  "read-output": () => "Read the output up to that point with `session.logs()`.",
  "open-stdin": () => 'Start it with `stdin: "open"` to write to it. Input is accepted until stdin is closed.',
  "use-terminal": () =>
    "Start the command with `pty: true`. If you did, its `warnings` say why no terminal was available.",
  "write-instead": () => 'Or start the command with `stdin: "open"` and send input with `write()`.',
  "use-background": () => "Or start the command with `gateway.start()`, which requires no timeout.",
  "use-shell": ({ program, text }) =>
    text
      ? "Pass the program and its arguments separately, or omit `args` to run the text with the shell."
      : `${program} is part of the shell. Omit \`args\` to run it with the shell.`,
  "fix-folder": ({ parameter }) =>
    parameter === "cwd"
      ? "Use an existing folder, or omit `cwd` to run in the workspace."
      : "Use a path in an existing folder, or omit `logFile`.",
  "enter-workspace": ({ parameter, workspace }) => `Use a path in \`${workspace}\`, or omit \`${parameter}\`.`,
  "fix-log-file": () => "`logFile` must name a regular file in an existing, writable folder.",
  "omit-log-file": () => "Use another path, or omit `logFile`.",
  "install-bash": () => "Install bash, or run a program without a shell by passing `args`.",
  "remove-variable": ({ variable }) => `Remove \`${variable}\` from \`env\`.`,
  "show-approval": ({ approval }) => `Read the approval request with \`gateway.approvals.get("${approval}")\`.`,
  "decide-approval": () =>
    "A person must decide: in the console, or on a terminal with `sallyport approvals`. The agent cannot.",
  "use-fields": ({ fields }) => `The fields of a request are ${fields}.`,
  "repeat-request": () => "Submit exactly the same command again after it is approved.",
  "repeat-input": () => "Send exactly the same input to the same session again after it is approved.",
  "raise-limit": ({ key, requestable }) =>
    requestable ? `Request a higher limit, up to the configured maximum. ${RAISE(key)}` : RAISE(key),
  "denied-by-sandbox": (denied) =>
    deniedText(denied, (access) => {
      if (access.field === "writable") return `request \`writable: ["${access.path}"]\``;
      if (access.field === "network") return 'request `network: "on"`';
      if (access.field === "sockets") return configureAccess(access);
      return `request \`sandbox: "${access.profile}"\`${access.profile === "off" ? ", which requires approval" : ""}`;
    }),
  "other-profile": () => 'Or request `sandbox: "read-only"`, or `sandbox: "off"`, which requires approval.',
  operator: ({ hint }) => hint,
};
