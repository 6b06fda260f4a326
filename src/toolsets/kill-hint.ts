import type { RunResult } from "../core/result.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Matches a command that ends processes by name or number. */
const KILLS = /(?:^|[\s;&|({`])(?:pkill|killall|kill|fuser\s+-\S*k\S*)\s/;
const BY_NAME = /(?:^|[\s;&|({`])(?:pkill|killall)\s/;
const FAILED = /operation not permitted|no such process|no process found/i;
/** The sandbox's own hint about signals, which this one replaces. */
const SANDBOX_HINT = /signal only their own processes/;

/**
 * Adds a hint to the result of a command that tried in vain to end processes of another session: a command sees and
 * signals only its own.
 */
export function withKillHint(result: RunResult, command: string, words: Vocabulary): RunResult {
  if (!triedInVain(result, command)) return result;
  const hint = `A command can end only processes that it started itself; end others with ${words.stop}.`;
  const others = result.hints.filter((each) => !SANDBOX_HINT.test(each.hint));
  return { ...result, hints: [...others, { action: "end_session", hint }] };
}

function triedInVain({ status, exitCode, signal, output }: RunResult, command: string): boolean {
  if (status !== "completed" || !KILLS.test(command)) return false;
  if (FAILED.test(output)) return true;
  // pkill is silent if it finds nothing, and `pkill -f` finds the shell that runs it, whose arguments contain the name.
  return BY_NAME.test(command) && (signal !== null || exitCode !== 0 || /\|\|\s*(?:true|:)/.test(command));
}
