/** Next steps in the words of a toolset, for a model. Nothing here names the command line or the library. */
import type { Recovery } from "../core/error.ts";
import { configureAccess, deniedText, type Wording, worded } from "../core/next-step.ts";
import type { ToolFailure } from "./tool.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The vocabulary for errors of the server itself, where no toolset is known. */
const NO_WORDS: Vocabulary = {
  background: "a background command",
  timeout: null,
  stop: "the tool that stops it",
  session: "session",
  list: null,
  status: null,
  output: null,
  remove: null,
  stdin: null,
  terminal: null,
  shell: null,
  parameters: {},
};

/** Returns a function that words a step with a phrase of the vocabulary, or omits the step if there is none. */
const withPhrase = (phrase: string | null, sentence: (phrase: string) => string) => () =>
  phrase === null ? null : sentence(phrase);

/** Returns the sentences of a toolset. */
export function toolsetWording(words: Vocabulary): Wording {
  const { parameters } = words;
  return {
    "list-sessions": withPhrase(words.list, (list) => `List the commands with ${list}.`),
    "show-session": withPhrase(words.status, (status) => `Check how it ended with ${status}.`),
    "remove-session": withPhrase(words.remove, (remove) => `Remove the old one with ${remove}.`),
    "stop-session": () =>
      words.remove === null
        ? `Stop it first with ${words.stop}.`
        : `Stop it first with ${words.stop}, or stop and remove it with ${words.remove}.`,
    "stop-some-sessions": () =>
      words.list === null
        ? `Stop commands that you no longer need with ${words.stop}.`
        : `List the running commands with ${words.list}, and stop those that you no longer need with ${words.stop}.`,
    "read-output": withPhrase(words.output, (output) => `Read the output up to that point with ${output}.`),
    "open-stdin": withPhrase(words.stdin, (stdin) => `Start the command with ${stdin} to write to it.`),
    "use-terminal": withPhrase(words.terminal, (terminal) => `Start the command with ${terminal}.`),
    "write-instead": () => null,
    "use-background": () => `Or start it with ${words.background}, where no timeout is required.`,
    "use-shell": ({ program }) =>
      program === "cd" && parameters.cwd !== undefined
        ? `A change of folder does not persist. Pass the folder of each command in ${parameters.cwd}.`
        : withPhrase(words.shell, (shell) => `To use shell syntax, pass ${shell}.`)(),
    "fix-folder": ({ parameter }) => {
      const name = parameters[parameter];
      return name === undefined ? "Use an existing folder." : `Use a path in an existing folder, or omit ${name}.`;
    },
    "enter-workspace": ({ parameter, workspace }) => {
      const name = parameters[parameter];
      return name === undefined ? `Use a path in ${workspace}.` : `Use a path in ${workspace}, or omit ${name}.`;
    },
    "fix-log-file": withPhrase(
      parameters.logFile ?? null,
      (name) => `${name} must name a regular file in an existing, writable folder.`,
    ),
    "omit-log-file": withPhrase(parameters.logFile ?? null, (name) => `Use another path, or omit ${name}.`),
    "install-bash": () => "Ask the user to install bash.",
    "remove-variable": ({ variable }) =>
      parameters.env === undefined ? null : `Remove ${variable} from ${parameters.env}.`,
    "show-approval": () => null,
    "decide-approval": () =>
      "Tell the user that a person must decide, in the Sallyport console or on the command line in a terminal of their own. You cannot approve it, and no command can.",
    "use-fields": () => null,
    "repeat-request": () => "Call the tool again with the same arguments to wait for the decision.",
    "repeat-input": () => "Send exactly the same input again to wait for the decision.",
    "raise-limit": ({ key, requestable }) =>
      requestable && key === "limits.memoryBytes" && parameters.limits !== undefined
        ? `If you passed ${parameters.limits}, pass a higher one. Otherwise ask the operator to raise \`${key}\` in sallyport.json.`
        : `Ask the operator to raise \`${key}\` in sallyport.json.`,
    "denied-by-sandbox": (denied) => deniedText(denied, configureAccess),
    "other-profile": () => null,
    operator: () => null,
  };
}

const REPORT = { action: "report", hint: "Report this to the user. Only a person can fix it." };

/** Returns a failure in the words of a toolset. It always has a next step: if no other, to report the failure. */
export function forModel({ type, message, recovery }: ToolFailure, words: Vocabulary = NO_WORDS): ToolFailure {
  const steps = worded(recovery, toolsetWording(words));
  return { type, message: renamed(message, words), recovery: steps.length > 0 ? steps : [REPORT] };
}

/** Returns hints in the words of a toolset. */
export function hintsForModel(hints: readonly Recovery[], words: Vocabulary = NO_WORDS): Recovery[] {
  return worded(hints, toolsetWording(words));
}

/** Names of request fields in messages, except configuration keys that look like one, such as `env.pass`. */
const FIELD = /`(args|cwd|env|logFile|pty|size|stdin|timeoutMs)(?=[.`])(?![\w.]*` in sallyport\.json)/g;

/** The start of messages about a session. */
const SESSION = /^(No such )session(?=:)|^(Session)(?= `)/;

function renamed(message: string, { parameters, session }: Vocabulary): string {
  const own = (start: string | undefined) =>
    start === undefined ? `${session.charAt(0).toUpperCase()}${session.slice(1)}` : `${start}${session}`;
  return renamedFields(
    message.replace(SESSION, (_, start?: string) => own(start)),
    parameters,
  );
}

function renamedFields(message: string, parameters: Vocabulary["parameters"]): string {
  return message.replace(FIELD, (all, name: keyof Vocabulary["parameters"]) => {
    const own = parameters[name];
    return own === undefined ? all : `\`${own}`;
  });
}
