import assert from "node:assert/strict";
import { test } from "node:test";
import { commandHelp } from "../../fixtures/command-help.ts";
import { Sandbox } from "../../fixtures/sallyport.ts";
import { pages } from "./pages.ts";

const box = new Sandbox();
const commands = await commandHelp(box);
box.remove();

/** Matches a call such as `$ sallyport logs -f web`, with the arguments after the name of the command. */
const CALLS = /\bsallyport ((?:-\S+ )*)([a-z]+(?:-[a-z]+)*)([^\n`|;#$]*)/g;
/** Misspelled commands that the docs show together with their error. */
const MISTAKES = new Set(["rnu"]);

/** Matches lines that Sallyport prints, and the server name that is passed to an MCP host. */
const NOT_A_CALL = /^sallyport: .*$|(?<=\bmcp add (?:--transport http )?)sallyport\b/gm;

function unknownIn(text: string): string[] {
  const unknown: string[] = [];
  for (const [call, before = "", name = "", rest = ""] of text.matchAll(CALLS)) {
    const command = commands.find((each) => each.name === name);
    if (!command) {
      unknown.push(call);
      continue;
    }
    const known = [...command.globals, ...command.options];
    const own = rest.replace(/ -- .*| -c .*|'[^']*'|"[^"]*"/g, " ");
    for (const [, long] of `${before} ${own}`.matchAll(/\s--([a-z][a-z-]*)/g)) {
      if (!known.some((option) => option.long === long)) unknown.push(`${call.trim()}: --${long}`);
    }
    for (const [, short] of own.matchAll(/\s-([a-zA-Z])\b/g)) {
      if (!known.some((option) => option.short === short)) unknown.push(`${call.trim()}: -${short}`);
    }
  }
  return unknown;
}

for (const { path, text } of pages()) {
  test(`the commands and options on ${path} exist`, () => {
    // In prose, `sallyport` can be a name. Code is in a fenced or indented block, or between backticks.
    const code = [...text.matchAll(/^```[\s\S]*?^```$|^ {4}.*$|`[^`\n]+`/gm)].map(([part]) => part);
    const calls = code.filter((part) => /(^|[\s`$])sallyport /m.test(part) && !/^sallyport:/m.test(part));
    const unknown = calls.flatMap((part) => unknownIn(part.replaceAll(NOT_A_CALL, "")));
    assert.deepEqual(
      unknown.filter((call) => ![...MISTAKES].some((mistake) => call.includes(mistake))),
      [],
    );
  });
}
