import { privateTmpVariables } from "../../sandbox/private-tmp/variables.ts";

/** Variables that each session sets for itself. */
const OWN = new Set([...Object.keys(privateTmpVariables("/", [])), "_", "SHLVL", "PWD", "OLDPWD"]);

/**
 * Returns the variables that the program has set for a command, such as `GIT_EDITOR=true`. The others come from the
 * environment of the gateway, which the command inherits without secrets. Variables that only the program has, such as
 * the key of its API, are left out.
 */
export function commandVariables(
  env: Readonly<Record<string, string>>,
  hidden: readonly string[],
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const isOfCommand = ([name, value]: [string, string]) =>
    !OWN.has(name) && !hidden.includes(name) && inherited[name] !== value;
  return Object.fromEntries(Object.entries(env).filter(isOfCommand));
}
