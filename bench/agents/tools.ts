import type { StdioServer } from "../mcp/server.ts";
import type { Place } from "./place.ts";

/** A tool call: the name of the tool and its arguments. */
export type Call = [tool: string, args: Record<string, unknown>];

/** The step that a call takes; the same text can mean different things as the answer to different steps. */
export type Step = "run" | "start" | "read" | "write" | "stop";

/** The facts that an agent takes from the text of an answer. */
export interface Facts {
  /** The output of the command, as far as the answer shows it. */
  output: string;
  /** Identifies the command in later calls. */
  handle: string | null;
  running: boolean;
  exitCode: number | null;
}

/** The tools of one MCP server, as its documentation says to use them. The tasks use nothing else. */
export interface AgentTools {
  name: string;
  /** Starts the server in the workspace. Returns null if it is not installed. */
  connect(place: Place): Promise<StdioServer | null>;
  /** Runs a command and waits for it, at most for this time. */
  run(command: string, seconds: number): Call;
  /** Starts a command in the background. */
  start(command: string): Call;
  /** Starts a program that is going to read input. Default: `start`. */
  open?(command: string): Call;
  /** Reads the new output of a command, and its state. */
  read(handle: string): Call;
  /** Waits for a regular expression in the output. Default: `read` once a second. */
  waitFor?(handle: string, pattern: string): Call;
  /** Waits for the end of the command. Default: `read` once a second. */
  waitForExit?(handle: string): Call;
  /** Waits for the result of a `run` whose answer said that the command is still running. Default: `waitForExit`. */
  resume?(handle: string, command: string, seconds: number): Call;
  /** Types a line. Absent if a running command cannot be given input. */
  write?(handle: string, line: string): Call;
  /** Searches the output of a command that has ended. */
  search?(handle: string, pattern: string): Call;
  stop(handle: string): Call;
  understand(text: string, step: Step): Facts;
}

/**
 * Returns a command that waits for a line in the log of a background command, then prints the log. It serves agents
 * whose tools read neither the output nor the exit code of a background command.
 */
export function untilLogged(start: string): string {
  return `timeout 10 sh -c 'until grep -q "^${start}" job.log; do sleep 0.2; done'; cat job.log`;
}

/** Returns the first group of the match as a number. */
export function numberIn(text: string, pattern: RegExp): number | null {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : Number(found);
}
