import { constants } from "node:os";
import { SallyportError } from "../core/error.ts";
import { type Failure, failureJson, failureText } from "../text/error-text.ts";
import { type Io, UsageError } from "./command.ts";
import { EXIT_SIGNAL, exitCodeOfError } from "./exit-code.ts";
import { BrokenPipe, OutputLost } from "./io.ts";
import { CLI_WORDING } from "./next-steps.ts";

/** Prints an error to stderr, as text or JSON, and returns the exit code for it. */
export function reportError(error: unknown, io: Io, context: { json: boolean; command?: string }): number {
  if (error instanceof BrokenPipe) return EXIT_SIGNAL + constants.signals.SIGPIPE;
  const failure = failureOf(error, context.command);
  io.err(`${context.json ? failureJson(failure, CLI_WORDING) : failureText(failure, CLI_WORDING)}\n`);
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
    const recovery = [{ action: "check_output", hint: "Check the file or program that stdout is redirected to." }];
    return { type: "OutputLost", message: `cannot write to stdout: ${message}`, recovery };
  }
  if (process.env.SALLYPORT_DEBUG && error instanceof Error) {
    return { type: "Unexpected", message: `${message}\n${error.stack}`, recovery: [] };
  }
  const hint = "This is a bug in Sallyport. Set SALLYPORT_DEBUG=1 to print a stack trace, and report it.";
  return { type: "Unexpected", message, recovery: [{ action: "debug", hint }] };
}
