import { AsyncLocalStorage } from "node:async_hooks";
import { SallyportError } from "../../../core/error.ts";
import type { GatewayEvent, SessionHandle } from "../../../core/gateway.ts";
import type { RunRequest } from "../../../core/request.ts";
import type { Gateway } from "../../../gateway/gateway.ts";
import { signalName } from "../../../session/signals.ts";
import { visible } from "../../../text/visible.ts";
import { forModel } from "../../../toolsets/next-steps.ts";
import { remarksMessage } from "../../../toolsets/outcome-message.ts";
import type { Vocabulary } from "../../../toolsets/vocabulary.ts";
import { EXIT_FAILED, exitCodeOf, exitCodeOfError } from "../../exit-code.ts";
import { FRAME, type Frame, type Hello, parseSize } from "./frames.ts";
import { shellRequest } from "./shell-request.ts";

/** The words for a program that starts a shell, and for the model behind it. */
const SHELL_WORDS: Vocabulary = {
  background: "the background mode of the tool",
  timeout: null,
  stop: "a signal",
  session: "command",
  list: null,
  status: null,
  output: null,
  remove: null,
  stdin: null,
  terminal: null,
  shell: null,
  parameters: {},
};

/** The call whose command is being started, for events of the gateway, which does not know about connections. */
const calls = new AsyncLocalStorage<ShellCall>();

/** Tells the program that its command waits for approval. To be set as `onEvent` of the gateway of shell calls. */
export function onGatewayEvent(event: GatewayEvent): void {
  if (event.type === "approval-requested") calls.getStore()?.waits();
}

/** Sends the content of a frame. Resolves when the connection has room for more. */
export type Send = (type: number, content: Uint8Array) => Promise<void>;

interface CallOptions {
  workspace: string;
  /** Returns the variables of the relay's environment that the command is given. */
  variables(env: Hello["env"]): Record<string, string>;
  /** Whether a command that requires approval waits for it. If not, it fails, and can be run again later. */
  waits: boolean;
  /** Reports whether the program has not been told this warning yet. Most of them are the same for each command. */
  isNews(warning: string): boolean;
}

/** One command that the program of an agent starts through the relay. It runs as a session of its own. */
export class ShellCall {
  readonly #gateway: Gateway;
  readonly #hello: Hello;
  readonly #send: Send;
  readonly #options: CallOptions;
  readonly #gone = new AbortController();
  readonly #decided = Promise.withResolvers<void>();
  #session: SessionHandle | null = null;
  #waited = false;

  constructor(gateway: Gateway, hello: Hello, send: Send, options: CallOptions) {
    this.#gateway = gateway;
    this.#hello = hello;
    this.#send = send;
    this.#options = options;
  }

  /** Runs the command and sends its output and its exit code. */
  async run(): Promise<void> {
    try {
      const code = await calls.run(this, () => this.#run());
      await this.#send(FRAME.exit, Uint8Array.of(code));
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      await this.#fail(error);
    } finally {
      this.#decided.resolve();
    }
  }

  async #run(): Promise<number> {
    const { request, form } = shellRequest(this.#hello, this.#options.workspace);
    const session = await this.#gateway.startAs(
      { ...request, ...this.#surroundings() },
      {
        foreground: true,
        signal: this.#gone.signal,
        ...(form === null ? {} : { shell: form }),
        ...(this.#options.waits ? {} : { approvalTimeoutMs: 0 }),
      },
    );
    this.#session = session;
    if (this.#waited) await this.#note("a person has approved this command");
    if (this.#gone.signal.aborted) await this.#kill("SIGTERM");
    this.#decided.resolve();
    for await (const { stream, bytes } of session.follow()) {
      await this.#send(stream === "stderr" ? FRAME.stderr : FRAME.stdout, bytes);
    }
    const info = await session.wait();
    const remarks = remarksMessage(info, SHELL_WORDS);
    if (remarks !== null) await this.#note(remarks);
    for (const warning of info.warnings) {
      if (this.#options.isNews(warning)) await this.#note(`warning: ${warning}`);
    }
    return exitCodeOf(info);
  }

  #surroundings(): Partial<RunRequest> {
    const { cwd, env, input } = this.#hello;
    const terminal = typeof input === "object" ? { pty: true, size: input } : {};
    return {
      ...terminal,
      cwd,
      env: this.#options.variables(env),
      stdin: input === "none" ? "none" : "open",
      timeoutMs: 0,
    };
  }

  async #fail(error: unknown): Promise<void> {
    if (!(error instanceof SallyportError)) {
      await this.#note(error instanceof Error ? error.message : String(error));
      await this.#send(FRAME.exit, Uint8Array.of(EXIT_FAILED));
      return;
    }
    const { message, recovery } = forModel(error, SHELL_WORDS);
    await this.#note([message, ...recovery.map(({ hint }) => hint)].join(" "));
    await this.#send(FRAME.exit, Uint8Array.of(exitCodeOfError(error.type)));
  }

  async #note(text: string): Promise<void> {
    await this.#send(FRAME.stderr, Buffer.from(`sallyport: ${visible(text)}\n`));
  }

  /** Sends a note about an approval that the command waits for. It does not contain how to decide (invariant 7). */
  waits(): void {
    if (!this.#options.waits) return;
    this.#waited = true;
    // A model may read the note, so it does not name the request (invariant 7).
    void this.#note("waiting for a person to approve this command").catch(() => {});
  }

  /** Is told about a frame as soon as it has arrived. A signal before the start cancels the command. */
  arrived({ type }: Frame): void {
    if (type === FRAME.signal && !this.#session) this.disconnected();
  }

  /**
   * Handles a frame from the relay. Resolves when the next one can follow, which is not before the command has started:
   * the program could send input without end while the command waits for approval (invariant 6).
   */
  async receive(frame: Frame): Promise<void> {
    await this.#decided.promise;
    if (this.#session) await this.#take(this.#session, frame);
  }

  async #take(session: SessionHandle, { type, content }: Frame): Promise<void> {
    try {
      if (type === FRAME.stdin) await session.write(content);
      else if (type === FRAME.end) await session.closeStdin();
      else if (type === FRAME.signal) await this.#kill(signalName(content[0] ?? 0) ?? "SIGTERM");
      else if (type === FRAME.size) await this.#resize(session, content.toString("latin1"));
    } catch (error) {
      // The command has ended or does not read its input, as `head` may.
      if (!(error instanceof SallyportError)) throw error;
      if (type === FRAME.stdin && error.type !== "AlreadyExited" && error.type !== "StdinClosed") {
        await this.#note(error.message);
        await this.#kill("SIGTERM");
      }
    }
  }

  async #resize(session: SessionHandle, text: string): Promise<void> {
    const size = parseSize(text);
    if (size !== null) await session.resize(size);
  }

  /** Sends a signal without waiting for the command to end, because its output must be read in the meantime. */
  async #kill(signal: string): Promise<void> {
    void this.#session?.kill({ signal }).catch(() => {});
  }

  /** Ends the command: the program that waits for it is gone. */
  disconnected(): void {
    this.#gone.abort();
    void this.#kill("SIGTERM");
  }
}
