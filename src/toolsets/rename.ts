import type { Recovery } from "../core/error.ts";
import type { ToolFailure } from "./tool.ts";

/** The word a contract has for one of our failures, and the actions it names for it. */
interface Renaming {
  type?: string;
  /** Come first; ours follow, except those of the same name. */
  recovery: readonly Recovery[];
  /** Our own ways out are of no use here (they name commands a model may not have). */
  only?: boolean;
}

/** `parameters`: what the contract calls the fields of a request (`cwd` is `workdir` in one of them). */
export function renaming(
  table: Readonly<Record<string, Renaming>>,
  parameters: Readonly<Record<string, string>> = {},
): (failure: ToolFailure) => ToolFailure {
  const field = /`(\w+)(?=[.`])/g;
  const reworded = (text: string) =>
    text.replace(field, (all, name: string) => (Object.hasOwn(parameters, name) ? `\`${parameters[name]}` : all));
  return ({ type, message, recovery }) => {
    const failure = {
      type,
      message: reworded(message),
      recovery: recovery.map(({ action, hint }) => ({ action, hint: reworded(hint) })),
    };
    const entry = Object.hasOwn(table, failure.type) ? table[failure.type] : undefined;
    if (!entry) return failure;
    const names = new Set(entry.recovery.map(({ action }) => action));
    const ours = entry.only ? [] : failure.recovery.filter(({ action }) => !names.has(action));
    return { ...failure, type: entry.type ?? failure.type, recovery: [...entry.recovery, ...ours] };
  };
}
