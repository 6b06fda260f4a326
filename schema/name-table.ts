import { HARMLESS_NAMES, NAME_GROUPS, PROTECTED_NAMES } from "../src/sandbox/environment.ts";

const PASS = { never: "never", "by-name": "by its exact name", "by-pattern": "by name or pattern" };
const GIVEN = {
  refused: "refused",
  "harmless-only": "refused, except `cat`, `true`, `:` or nothing",
  allowed: "allowed",
};

/** The special variables as Markdown: each group with its names and what becomes of them. */
export function nameTable(): string {
  const groups = NAME_GROUPS.map(
    ({ id, why, names, inherited, given, pass }) =>
      `**${id}**: ${why}. Inherited: ${inherited}. Given: ${GIVEN[given]}. \`env.pass\` lifts it: ${PASS[pass]}.\n\n${list(names)}`,
  );
  return [
    ...groups,
    `**protected**: set by the system; inherited, but a caller cannot override them.\n\n${list(PROTECTED_NAMES)}`,
    `**harmless**: fit one of the patterns above, but are let through.\n\n${list([...HARMLESS_NAMES])}`,
  ].join("\n\n");
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(" ");
}
