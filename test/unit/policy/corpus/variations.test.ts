import assert from "node:assert/strict";
import { test } from "node:test";
import { check } from "../../../../src/gateway/check.ts";
import { rows } from "./rows.ts";

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Texts that run the command. */
const running: Record<string, (text: string) => string> = {
  "after another command": (text) => `true\n${text}`,
  "in a subshell": (text) => `(\n${text}\n)`,
  "in a group with a redirect": (text) => `{\n${text}\n} 2>/dev/null`,
  "in a condition": (text) => `if\n${text}\nthen :\nfi`,
  "in a loop": (text) => `for once in 1; do\n${text}\ndone`,
  "in a function that is called": (text) => `do_it() {\n${text}\n}\ndo_it`,
  "in a substitution": (text) => `echo "$(\n${text}\n)"`,
  "in bash -c": (text) => `bash -c ${single(text)}`,
  "in nested shells behind wrappers": (text) => `nice env A=1 bash -c ${single(`timeout 9 sh -c ${single(text)}`)}`,
  "in eval": (text) => `eval ${single(text)}`,
  "in a trap": (text) => `trap ${single(text)} EXIT`,
  "in a here-document for a shell": (text) => `bash <<'END_OF_IT'\n${text}\nEND_OF_IT`,
  "with whitespace and a comment": (text) => `\n\n   ${text}\n# tidy up`,
};

/** Texts that contain the command as data and do not run it. */
const mentioned: Record<string, (text: string) => string> = {
  "as an argument of echo": (text) => `echo ${single(text)}`,
  "as a pattern": (text) => `grep -rF -- ${single(text)} docs`,
  "as a commit message": (text) => `git commit -m ${single(text)}`,
  "as a value": (text) => `NOTE=${single(text)}; printf '%s\\n' "$NOTE"`,
  "as a here-document": (text) => `cat > notes.md <<'END_OF_IT'\n${text}\nEND_OF_IT`,
  "as a comment": (text) => `${text.replaceAll(/^/gm, "# ")}\nls`,
};

const options = { cwd: "/srv/space", workspace: "/srv/space", home: "/home/someone" };
// An alias takes effect on the line after its definition, but not inside the compound command that defines it.
const dangerous = rows().filter(({ expected, command }) => expected === "deny" && !command.includes("alias "));

for (const [name, vary] of Object.entries(running)) {
  test(`a dangerous command is blocked or denied ${name}`, () => {
    const passed = dangerous
      .map((row) => ({ ...row, ...check(vary(row.command), options) }))
      .filter(({ verdict }) => verdict !== "blocked" && verdict !== "deny");
    const known = passed.filter(({ analyzable }) => analyzable);
    assert.equal(known.map(({ at, command }) => `${at} ${JSON.stringify(command)}`).join("\n"), "");
    // A loop may make the working directory unknown, and the parser rejects a few unusual forms. This is rare, and
    // requires approval.
    assert.ok(passed.length <= dangerous.length / 100, passed.map(({ at, command }) => `${at} ${command}`).join("\n"));
  });
}

for (const [name, vary] of Object.entries(mentioned)) {
  test(`does not block or deny a dangerous command that appears only ${name}`, () => {
    const stopped = dangerous.filter(({ command }) => {
      const { verdict } = check(vary(command), options);
      return verdict === "blocked" || verdict === "deny";
    });
    assert.equal(stopped.map(({ at, command }) => `${at} ${JSON.stringify(command)}`).join("\n"), "");
  });
}
