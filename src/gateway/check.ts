/** Judges a command without running it: inspect, then decide, with real lookups. */
import { homedir } from "node:os";
import type { Ask, Security, Verdict } from "../contract/verdict.ts";
import { decide } from "../policy/decide.ts";
import type { Policy } from "../policy/policy.ts";
import type { InspectContext, Lookup } from "../shell/context.ts";
import { inspect, inspectArgv } from "../shell/inspect.ts";
import { systemLookup } from "../shell/lookup.ts";

export interface CheckOptions {
  /** Where the command would start; the workspace if left out. */
  cwd?: string;
  /** The folder the agent works in; the current folder if left out. */
  workspace?: string;
  security?: Security;
  ask?: Ask;
  agent?: string;
  /** The kernel will confine it. */
  confined?: boolean;
  policy?: Policy;
  home?: string;
  /** Variables whose value is certain when the command runs. */
  env?: Readonly<Record<string, string | undefined>>;
  lookup?: Lookup;
}

let shared: Lookup | null = null;

/** A string is shell text for bash; a list is an argv that is run directly. */
export function check(command: string | readonly string[], options: CheckOptions = {}): Verdict {
  const workspace = options.workspace ?? options.cwd ?? process.cwd();
  const home = options.home ?? homedir();
  if (!options.lookup) shared ??= systemLookup();
  const context: InspectContext = {
    cwd: options.cwd ?? workspace,
    home,
    workspace,
    env: options.env ?? {},
    lookup: options.lookup ?? (shared as Lookup),
  };
  const analysis = typeof command === "string" ? inspect(command, context) : inspectArgv(command, context);
  return decide(analysis, options.policy ?? {}, {
    workspace,
    home,
    confined: options.confined ?? false,
    now: Date.now(),
    agent: options.agent ?? null,
    request: {
      ...(options.security ? { security: options.security } : {}),
      ...(options.ask ? { ask: options.ask } : {}),
    },
  });
}
