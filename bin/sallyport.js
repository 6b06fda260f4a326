#!/usr/bin/env node
// Plain JavaScript that Node 12 can still parse: a Node that is too old must get one clear line, not a syntax error.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

// Node 22 announces node:sqlite as experimental on stderr, which belongs to the user's command. Every other warning stays.
function hideSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (rest[0] === "ExperimentalWarning" && String(warning).startsWith("SQLite ")) return;
    emitWarning.call(process, warning, ...rest);
  };
}

// Compiled code is trusted when it is read back, so it is kept in the state folder, which confined commands cannot write,
// and not in Node's default place under /tmp, which they can. No state folder yet: no cache yet.
function enableCompileCache() {
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const state = process.env.SALLYPORT_STATE || join(base, "sallyport");
  if (nodeModule.enableCompileCache && existsSync(state)) nodeModule.enableCompileCache(join(state, "compiled"));
}

if (isNewEnough(process.versions.node)) {
  hideSqliteWarning();
  enableCompileCache();
  const source = new URL("../src/surfaces/cli/main.ts", import.meta.url);
  const built = new URL("../dist/cli/main.js", import.meta.url);
  import(existsSync(fileURLToPath(source)) ? source.href : built.href).then(({ main }) => main(process.argv.slice(2)));
} else {
  process.stderr.write(
    `sallyport needs Node 22.19 or newer; this is v${process.versions.node}. Get it from https://nodejs.org; in a checkout \`npx sallyport\` uses the one that \`npm ci\` installed\n`,
  );
  process.exitCode = 125;
}
