import { constants } from "node:os";
import { SallyportError } from "../core/error.ts";
import { type Failure, failureJson, failureText } from "../text/error-text.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT_SIGNAL, exitCodeOfError } from "./exit-code.ts";
import { BrokenPipe, OutputLost } from "./io.ts";

/** Says on stderr what went wrong, as a person or a program wants it, and gives the exit code for it. */
export function reportError(error: unknown, io: Io, context: { json: boolean; command?: string }): number {
  if (error instanceof BrokenPipe) return EXIT_SIGNAL + constants.signals.SIGPIPE;
  const failure = failureOf(error, context.command);
  io.err(`${context.json ? failureJson(failure) : failureText(failure)}\n`);
  return exitCodeOfError(failure.type);
}

function failureOf(error: unknown, command: string | undefined): Failure {
  if (error instanceof SallyportError) return error;
  if (error instanceof UsageError) {
    const help = command ? `sallyport ${command} --help` : "sallyport --help";
    const recovery = [{ action: "show_help", hint: `Try \`${help}\`.` }];
    return { type: "InvalidRequest", message: error.message, recovery };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof OutputLost) {
    const recovery = [{ action: "check_output", hint: "Look at what stdout was redirected to." }];
    return { type: "OutputLost", message: `cannot write to stdout: ${message}`, recovery };
  }
  if (process.env.SALLYPORT_DEBUG && error instanceof Error) {
    return { type: "Unexpected", message: `${message}\n${error.stack}`, recovery: [] };
  }
  const hint = "This should not happen. SALLYPORT_DEBUG=1 shows where it came from.";
  return { type: "Unexpected", message, recovery: [{ action: "debug", hint }] };
}
