#!/usr/bin/env node
// Plain JavaScript that Node 12 can parse, so that an old version of Node prints a clear message and not a syntax error.
function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > 22 || (major === 22 && minor >= 19);
}

// Hides the warning of Node 22 that node:sqlite is experimental, because stderr is also that of the user's command.
function hideSqliteWarning() {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning, ...rest) => {
    if (rest[0] === "ExperimentalWarning" && String(warning).startsWith("SQLite ")) return;
    emitWarning.call(process, warning, ...rest);
  };
}

// Node trusts the compiled code in its cache. The cache is therefore in the state folder, which sandboxed commands cannot
// write, and not in Node's default directory under /tmp. Without a state folder there is no cache.
function enableCompileCache({ existsSync }) {
  const { homedir } = process.getBuiltinModule("node:os");
  const { join } = process.getBuiltinModule("node:path");
  const base = process.env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const state = process.env.SALLYPORT_STATE || join(base, "sallyport");
  const { enableCompileCache } = process.getBuiltinModule("node:module");
  if (enableCompileCache && existsSync(state)) enableCompileCache(join(state, "compiled"));
}

// Reports whether the command is `mcp` over stdio.
function servesMcp(args) {
  const at = args.findIndex((arg, index) => arg[0] !== "-" && !/^--(state|agent|fleet)$/.test(args[index - 1] || ""));
  return args[at] === "mcp" && !args.some((arg) => /^--http(=|$)/.test(arg));
}

// Answers every MCP request with an error. A host shows it to its user; of a server that ends, most show only that the
// connection was closed.
function answerWithErrors(message) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const request = parsed(line);
      if (!request || request.id === undefined || request.method === undefined) continue;
      const response = { jsonrpc: "2.0", id: request.id, error: { code: -32603, message } };
      process.stdout.write(`${JSON.stringify(response)}\n`);
    }
  });
}

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch (_) {
    return null; // a client that sends something else than JSON cannot be answered
  }
}

if (isNewEnough(process.versions.node)) {
  // Not an `import` statement, which would load more of Node and take longer than the rest of this file.
  const fs = process.getBuiltinModule("node:fs");
  delete process.env.SALLYPORT_STARTS_NODE; // set by the native client, which would take a second start for a loop
  hideSqliteWarning();
  enableCompileCache(fs);
  const source = new URL("../src/cli/main.ts", import.meta.url);
  const built = new URL("../dist/cli/main.js", import.meta.url);
  import(fs.existsSync(source) ? source.href : built.href).then(({ main }) => main(process.argv.slice(2)));
} else {
  const reason = `sallyport: requires Node 22.19 or newer, but ${process.execPath} is v${process.versions.node}; install a newer one from https://nodejs.org, or run \`npx sallyport\` in a checkout.`;
  process.stderr.write(`${reason}\n`);
  process.exitCode = 125;
  if (servesMcp(process.argv.slice(2)) && !process.stdin.isTTY) answerWithErrors(reason);
}
