/** The text that an agent host puts around a command of its agent, taken apart. */
export interface HostWrapper {
  host: string;
  /** The command of the agent. */
  command: string;
  /** Files that the host runs before the command. */
  sourced: string[];
  /** A file in which the host expects the final working directory; null for none. */
  directoryFile: string | null;
  /** A file in which the host expects the PIDs of background processes; null for none. */
  processFile: string | null;
  /** Returns the text that runs `command` as the host would, with text after the command if it succeeds. */
  text(onSuccess: string): string;
}

/** Where the text comes from. Nothing here can be set by a command of the agent. */
export interface WrapperContext {
  env: Readonly<Record<string, string | undefined>>;
  /** The workspace of the agent, with symbolic links resolved. */
  workspace: string;
  uid: number;
}

/** Reads a text from left to right. A part that does not match exactly ends the reading. */
export class Reader {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get done(): boolean {
    return this.at === this.text.length;
  }

  /** Skips a part, and reports whether it was there. */
  skip(part: string): boolean {
    if (!this.text.startsWith(part, this.at)) return false;
    this.at += part.length;
    return true;
  }
}
