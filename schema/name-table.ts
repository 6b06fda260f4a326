import { HARMLESS_NAMES, NAME_GROUPS, PROTECTED_NAMES } from "../src/sandbox/environment.ts";

const INHERITED = { dropped: "removed", kept: "kept" };
const GIVEN = {
  refused: "rejected",
  "harmless-only":
    "rejected, except for the empty string and the values `cat`, `true`, `/bin/cat`, `/bin/true` and `:`",
  allowed: "allowed",
};
const PASS = { never: "no", "by-name": "by exact name", "by-pattern": "by name or pattern" };

/** Returns the groups of special variables as Markdown: a table of how each is treated, then the names in each. */
export function nameTable(): string {
  const rows = [
    ["group", "a variable in it", "inherited", "in a request", "can be allowed with `env.pass`"],
    ["---", "---", "---", "---", "---"],
    ...NAME_GROUPS.map(({ id, why, inherited, given, pass }) => [
      `\`${id}\``,
      why,
      INHERITED[inherited],
      GIVEN[given],
      PASS[pass],
    ]),
    ["`protected`", "is set by the system", "kept", "rejected", "by exact name, except `SALLYPORT_*`"],
    ["`harmless`", "matches a pattern of another group but is safe", "kept", "allowed", "not needed"],
  ];
  const names = [
    ...NAME_GROUPS.map((group) => nameList(group.id, group.names)),
    nameList("protected", PROTECTED_NAMES),
    nameList("harmless", [...HARMLESS_NAMES]),
  ];
  return [rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n"), ...names].join("\n\n");
}

function nameList(group: string, names: readonly string[]): string {
  return `**${group}**: ${names.map((name) => `\`${name}\``).join(" ")}`;
}
