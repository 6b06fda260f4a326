import { setTimeout as pause } from "node:timers/promises";
import { CallLimitError, type StdioServer } from "../mcp/server.ts";
import type { AgentTools, Call, Facts, Step } from "./tools.ts";

/** The time that the client waits for an answer. Most clients wait for 60 s; a shorter limit makes the run shorter. */
export const CALL_LIMIT_SECONDS = 20;
/** The time between two polls, as a model needs time to decide. */
const THINKING_MS = 1000;
const ATTEMPT_MS = 60_000;

/** The server has no tool for a task. */
export class NoMeansError extends Error {}

/** An answer, and what the agent understood. `late` is set if the client stopped waiting. */
export interface Reply extends Facts {
  text: string;
  isError: boolean;
  late: boolean;
}

interface ToolResult {
  content?: { text?: string }[];
  structuredContent?: object;
  isError?: boolean;
}

interface Answer {
  text: string;
  structured: string;
  isError: boolean;
  late: boolean;
}

/** Does a task with the tools of one server, and counts what it costs. */
export class Agent {
  readonly tools: AgentTools;
  readonly #server: StdioServer;
  readonly #from = performance.now();
  readonly #transcript: string[] = [];
  calls = 0;
  bytes = 0;

  constructor(tools: AgentTools, server: StdioServer) {
    this.tools = tools;
    this.#server = server;
  }

  get transcript(): string {
    return this.#transcript.join("\n");
  }

  /** Makes a call, and counts the text and the structured content of its result as bytes for the model. */
  async call(step: Step, [name, args]: Call): Promise<Reply> {
    if (performance.now() - this.#from > ATTEMPT_MS) throw new Error("gave up after 60 s");
    this.calls++;
    const { text, structured, isError, late } = await this.#ask(name, args);
    this.bytes += Buffer.byteLength(text) + Buffer.byteLength(structured);
    const shown = [text, structured].filter((part) => part !== "").map(shortened);
    this.#transcript.push(`> ${name} ${JSON.stringify(args)}`, ...shown);
    return { text, isError, late, ...this.tools.understand(text, step) };
  }

  async #ask(name: string, args: object): Promise<Answer> {
    try {
      const params = { name, arguments: args };
      const result: ToolResult = await this.#server.request("tools/call", params, CALL_LIMIT_SECONDS * 1000);
      const { content = [], structuredContent, isError = false } = result;
      const text = content.map((block) => block.text ?? "").join("\n");
      const structured = structuredContent ? JSON.stringify(structuredContent) : "";
      return { text, structured, isError, late: false };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { text: error.message, structured: "", isError: true, late: error instanceof CallLimitError };
    }
  }

  run(command: string, seconds = 60): Promise<Reply> {
    return this.call("run", this.tools.run(command, seconds));
  }

  async start(command: string): Promise<Reply & { handle: string }> {
    return withHandle(await this.call("start", this.tools.start(command)));
  }

  async open(command: string): Promise<Reply & { handle: string }> {
    if (!this.tools.write) throw new NoMeansError("a running command cannot be given input");
    return withHandle(await this.call("start", (this.tools.open ?? this.tools.start)(command)));
  }

  async write(handle: string, line: string): Promise<Reply> {
    if (!this.tools.write) throw new NoMeansError("a running command cannot be given input");
    return this.call("write", this.tools.write(handle, line));
  }

  stop(handle: string): Promise<Reply> {
    return this.call("stop", this.tools.stop(handle));
  }

  /** Waits until the output matches, and returns the match. `reply` may have it already. */
  async until(pattern: RegExp, handle: string, reply: Reply): Promise<RegExpExecArray> {
    const { read, waitFor } = this.tools;
    let output = reply.output;
    for (;;) {
      const found = pattern.exec(output);
      if (found) return found;
      if (waitFor === undefined) await pause(THINKING_MS);
      const next = await this.call("read", waitFor ? waitFor(handle, pattern.source) : read(handle));
      output += next.output;
      if (!next.running && !pattern.test(output)) throw new Error("the command ended without the expected output");
    }
  }

  /** Waits for the exit of a command that was started in the background. */
  async exit(handle: string, reply: Reply): Promise<Reply> {
    const { read, waitForExit } = this.tools;
    let last = reply;
    let output = reply.output;
    while (last.running) {
      if (waitForExit === undefined) await pause(THINKING_MS);
      last = await this.call("read", (waitForExit ?? read)(handle));
      output += last.output;
    }
    return { ...last, output };
  }

  /** Runs a command, and waits for its end also if an answer says that it is still running. */
  async complete(command: string, seconds = 60): Promise<Reply> {
    const { resume } = this.tools;
    let last = await this.run(command, seconds);
    const { handle } = last;
    if (!last.running || handle === null) return last;
    if (!resume) return { ...(await this.exit(handle, last)), handle };
    while (last.running) last = await this.call("run", resume(handle, command, seconds));
    return last;
  }
}

function shortened(text: string): string {
  return text.length > 4000 ? `${text.slice(0, 2000)}\n[...]\n${text.slice(-2000)}` : text;
}

function withHandle(reply: Reply): Reply & { handle: string } {
  if (reply.handle === null) throw new Error(`no command was started: ${reply.text.slice(0, 200)}`);
  return { ...reply, handle: reply.handle };
}
