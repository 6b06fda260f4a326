import { signalName } from "../../session/signals.ts";
import type { Outcome } from "../message.ts";
import { signalCause } from "./signal.ts";

const SHELL_SIGNAL = 128;
const LAST_SIGNAL = 64;

/** Codes that bash and its helpers give a meaning, where the command is shell text or one of them. */
const CONVENTION: Record<number, string> = {
  124: "the command `timeout` ended what it ran",
  125: "a command that runs another (`timeout`, `docker run`) failed itself",
  126: "the shell found a command but could not execute it",
  127: "the shell did not find a command",
};

/** Null for 0, which needs no words. */
export function exitCodeMessage(outcome: Outcome): string | null {
  const { exitCode } = outcome;
  if (exitCode === null || exitCode === 0) return null;
  const meaning = CONVENTION[exitCode];
  const where = stderrNote(outcome);
  if (meaning !== undefined) return `Exit code ${exitCode}: ${meaning}; ${where}.`;
  const signal = exitCode > SHELL_SIGNAL && exitCode <= SHELL_SIGNAL + LAST_SIGNAL ? exitCode - SHELL_SIGNAL : 0;
  const name = signalName(signal);
  if (name === null) return `Exit code ${exitCode}; ${where}.`;
  return `Exit code ${exitCode}: if from a shell, a command in it was ended by ${signalCause(name, outcome.resourceUsage)}.`;
}

/** The reason is in the output: look there before running it again. */
function stderrNote(outcome: Outcome): string {
  if ("stderr" in outcome) {
    if (outcome.stderr !== "") return "stderr says why";
    return outcome.output === "" ? "it wrote nothing" : "nothing is on stderr, the output may say why";
  }
  return Object.values(outcome.streams).some((stream) => stream.bytes > 0) ? "its log may say why" : "it wrote nothing";
}
