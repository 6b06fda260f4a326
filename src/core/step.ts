/** Next steps as data; see next-step.ts. */

type Nothing = Record<never, never>;

/** The arguments of each step. */
export interface StepArguments {
  "list-sessions": Nothing;
  "show-session": { session: string };
  "remove-session": { session: string };
  "stop-session": { session: string };
  "stop-some-sessions": Nothing;
  "read-output": Nothing;
  "open-stdin": Nothing;
  "use-terminal": Nothing;
  "write-instead": Nothing;
  "use-background": Nothing;
  /** Run the text with the shell: `program` is shell text, or the name of a part of the shell. */
  "use-shell": { program: string; text: boolean };
  "fix-folder": { parameter: "cwd" | "logFile" };
  "enter-workspace": { parameter: "cwd" | "logFile"; workspace: string };
  "fix-log-file": Nothing;
  "omit-log-file": Nothing;
  "install-bash": Nothing;
  "remove-variable": { variable: string };
  "show-approval": { approval: string };
  "decide-approval": Nothing;
  /** Use only the fields that a request has. Tools and commands have parameters of their own. */
  "use-fields": { fields: string };
  "repeat-request": Nothing;
  "repeat-input": Nothing;
  "raise-limit": { key: string; requestable: boolean };
  /** What the sandbox probably denied, what to do instead, and the access that would allow it. */
  "denied-by-sandbox": { why: string; instead: string | null; access: Access | null };
  "other-profile": Nothing;
  /** A step that only the operator can take, for example on the command line. */
  operator: { hint: string };
}

/** Access that a request or the configuration can grant. */
export type Access =
  | { field: "writable"; path: string }
  | { field: "sandbox"; profile: string }
  | { field: "network" }
  | { field: "sockets" };

export type StepName = keyof StepArguments;

/** A step and its arguments. */
export type Step = { [Name in StepName]: { name: Name } & StepArguments[Name] }[StepName];
