#!/usr/bin/env node
// Plain JavaScript that Node 12 can still parse: a Node that is too old must get one clear line, not a syntax error.
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
function enableCompileCache({ existsSync }) {
  const { homedir } = process.getBuiltinModule("node:os");
  const { join } = process.getBuiltinModule("node:path");
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const state = process.env.SALLYPORT_STATE || join(base, "sallyport");
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  if (enableCompileCache && existsSync(state)) enableCompileCache(join(state, "compiled"));
}

if (isNewEnough(process.versions.node)) {
  // Not by `import`: that would load all that a module of Node's offers, and take longer than the rest of this.
  const fs = process.getBuiltinModule("node:fs");
  hideSqliteWarning();
  enableCompileCache(fs);
  const source = new URL("../src/cli/main.ts", import.meta.url);
  const built = new URL("../dist/cli/main.js", import.meta.url);
  import(fs.existsSync(source) ? source.href : built.href).then(({ main }) => main(process.argv.slice(2)));
} else {
  process.stderr.write(
    `sallyport needs Node 22.19 or newer; this is v${process.versions.node}. Get it from https://nodejs.org; in a checkout \`npx sallyport\` uses the one that \`npm ci\` installed\n`,
  );
  process.exitCode = 125;
}
