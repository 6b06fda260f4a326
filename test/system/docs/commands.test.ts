import assert from "node:assert/strict";
import { test } from "node:test";
import { commandNames, findEntry } from "../../../src/cli/catalog.ts";
import { GLOBAL_OPTIONS } from "../../../src/cli/parse.ts";
import { pages } from "./pages.ts";

/** `$ sallyport logs -f web` and the like: what follows the command's name, up to the command it would run. */
const CALLS = /\bsallyport ((?:-\S+ )*)([a-z]+(?:-[a-z]+)*)([^\n`|;#$]*)/g;
/** Where a mistake is shown, together with what it is answered with. */
const MISTAKES = new Set(["rnu"]);

async function unknownIn(text: string): Promise<string[]> {
  const unknown: string[] = [];
  for (const [call, before = "", name = "", rest = ""] of text.matchAll(CALLS)) {
    const entry = findEntry(name);
    if (!entry) {
      unknown.push(call);
      continue;
    }
    const { options } = await entry.load();
    const known = { ...GLOBAL_OPTIONS, ...options };
    const own = rest.replace(/ -- .*| -c .*|'[^']*'|"[^"]*"/g, " ");
    for (const [, long] of `${before} ${own}`.matchAll(/\s--([a-z][a-z-]*)/g)) {
      if (long && !(long in known)) unknown.push(`${call.trim()}: --${long}`);
    }
    for (const [, short] of own.matchAll(/\s-([a-zA-Z])\b/g)) {
      if (!Object.values(known).some((option) => option.short === short)) unknown.push(`${call.trim()}: -${short}`);
    }
  }
  return unknown;
}

for (const { path, text } of pages()) {
  test(`${path} uses commands and options that there are`, async () => {
    // In prose `sallyport` can be a name; what is code stands in a block, an indented block or between backticks.
    const code = [...text.matchAll(/^```[\s\S]*?^```$|^ {4}.*$|`[^`\n]+`/gm)].map(([part]) => part);
    const calls = code.filter((part) => /(^|[\s`$])sallyport /m.test(part) && !/^sallyport:/m.test(part));
    const unknown = (await Promise.all(calls.map((part) => unknownIn(part.replace(/^sallyport: .*$/gm, ""))))).flat();
    assert.deepEqual(
      unknown.filter((call) => ![...MISTAKES].some((mistake) => call.includes(mistake))),
      [],
    );
  });
}

test("docs/cli.md tells of every command", () => {
  const cli = pages().find(({ path }) => path === "docs/cli.md")?.text ?? "";
  const untold = commandNames().filter((name) => !new RegExp(`(sallyport |\\| \`|^\`)${name}\\b`, "m").test(cli));
  assert.deepEqual(untold, []);
});
