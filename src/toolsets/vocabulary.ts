/**
 * What a toolset calls the things that a note or an error can suggest. Each value is a phrase that can follow a verb:
 * "stop it with PHRASE". Null means that the toolset does not offer it, and nothing suggests it.
 */
export interface Vocabulary {
  /** Starts a command that keeps running: "start it with PHRASE". */
  background: string;
  /** Sets a longer deadline: "run it again with PHRASE". Null when the deadline has no parameter. */
  timeout: string | null;
  /** Terminates a command: "stop it with PHRASE". */
  stop: string;
  /** What its texts call a started command: "session" or a noun of the contract. */
  session: string;
  /** Lists the commands of this agent. */
  list: string | null;
  /** Returns how a command ended. */
  status: string | null;
  /** Returns the output of a command. */
  output: string | null;
  /** Removes an ended command and its log. */
  remove: string | null;
  /** Starts a command that reads what is written to it later. */
  stdin: string | null;
  /** Starts a command on a terminal. */
  terminal: string | null;
  /** Runs the command as shell text. Null when every command is shell text. */
  shell: string | null;
  /** The tool's names for fields of a request. A field that is not listed is not a parameter of the toolset. */
  parameters: Readonly<Partial<Record<RequestField, string>>>;
}

type RequestField = "args" | "cwd" | "env" | "limits" | "logFile" | "stdin" | "timeoutMs" | "pty" | "size";
