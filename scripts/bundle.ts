/**
 * Bundles the hundreds of source files of the command line, and the packages that every command needs, into a few
 * files. Without a bundle, a cold start spends most of its time finding and reading files. The library is not bundled.
 *
 *   node scripts/bundle.ts [OUTPUT FOLDER]     default: dist/cli
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "vite";
import { coldModules, type Graph } from "./cold-modules.ts";
import { compileAhead, scriptModule } from "./compile-ahead.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCE = join(ROOT, "src");
const SDK = "@modelcontextprotocol/server";
const BUNDLED = [
  "zod",
  "unbash",
  "jsonc-parser",
  "hono",
  "@hono/node-server",
  "ws",
  SDK,
  "@modelcontextprotocol/core",
  "@modelcontextprotocol/node",
];

/** Replaces `import.meta.url`, so that a file resolves paths relative to its compiled location, not to the bundle. */
function compiledUrls(): Plugin {
  return {
    name: "compiled-urls",
    transform(code, id) {
      if (!id.startsWith(SOURCE) || !code.includes("import.meta.url")) return null;
      const compiled = `../${relative(SOURCE, id).replace(/\.ts$/, ".js")}`;
      return { code: code.replaceAll("import.meta.url", `new URL("${compiled}", import.meta.url).href`), map: null };
    },
  };
}

/** Built-in modules that most commands never call. Each is loaded when one of its functions is first called. */
const LATE = new Set(
  ["child_process", "crypto", "readline/promises", "stream/consumers", "timers/promises", "zlib"].map(
    (n) => `node:${n}`,
  ),
);

/**
 * Replaces imports of built-in modules with `process.getBuiltinModule`: an import evaluates every export of the module,
 * and the streams that `node:fs` exports take longer to load than our whole bundle.
 */
function builtinsDirectly(): Plugin {
  return {
    name: "builtins-directly",
    renderChunk(code) {
      // The wrappers below lack the `util.promisify.custom` property of these functions.
      if (/\bpromisify\((exec|execFile)\)/.test(code))
        throw new Error("promisify(execFile) does not work in the bundle");
      return code.replace(/^import \{ ([^}]+) \} from "(node:[\w/]+)";$/gm, (_, names: string, from: string) => {
        if (LATE.has(from))
          return names
            .split(", ")
            .map((name) => late(name, from))
            .join("\n");
        return `const { ${names.replaceAll(" as ", ": ")} } = process.getBuiltinModule("${from}");`;
      });
    },
  };
}

function late(name: string, from: string): string {
  const [theirs = "", ours = theirs] = name.split(" as ");
  const value = (process.getBuiltinModule(from) as Record<string, unknown>)[theirs];
  // A class or an object cannot be replaced by a function that loads it.
  if (typeof value !== "function" || !/^[a-z]/.test(theirs))
    return `const ${ours} = process.getBuiltinModule("${from}").${theirs};`;
  return `const ${ours} = (...given) => process.getBuiltinModule("${from}").${theirs}(...given);`;
}

/**
 * Replaces `node:http2` in the adapter of Hono, which only compares requests with a class of it. Our servers are those of
 * `node:http` and `node:https`, and loading the module, with TLS, takes longer than opening the gateway.
 */
function withoutHttp2(): Plugin {
  const stub = "\0no-http2";
  return {
    name: "without-http2",
    enforce: "pre",
    resolveId: (id, importer) =>
      id === "node:http2" && importer?.includes("/node_modules/@hono/node-server/") ? stub : null,
    load: (id) => (id === stub ? "export class Http2ServerRequest {}\nexport const constants = {};\n" : null),
  };
}

/** Returns a file and everything it imports statically, directly or indirectly. */
function reachable(from: string, graph: Graph, found = new Set<string>()): Set<string> {
  if (found.has(from)) return found;
  found.add(from);
  for (const id of graph.getModuleInfo(from)?.importedIds ?? []) reachable(id, graph, found);
  return found;
}

const MAIN = join(SOURCE, "cli/main.ts");
const TO_RUN = [join(SOURCE, "cli/commands/session/run.ts"), join(SOURCE, "gateway/open.ts")];
const sources = (...files: string[]) => files.map((path) => join(SOURCE, path));
/** What `mcp` needs until it has answered the handshake, and `serve` until it listens, in addition to `core`. */
const TO_GREET = sources("cli/commands/service/mcp.ts", "mcp/stdio.ts", "mcp/agent-context.ts");
const TO_LISTEN = sources(
  "cli/commands/service/serve.ts",
  "http/serve.ts",
  "http/sign-in-link.ts",
  "http/tracing/settings.ts",
);

type Assignment = Record<"start" | "common" | "greet" | "listen" | "cold" | "core", ReadonlySet<string>>;

let assigned: Assignment | null = null;

/**
 * Assigns modules to chunks. `start` has the modules that every command needs; `greet` and `listen` have those with which
 * `mcp` and `serve` start. `common` has the modules that running a command shares with `mcp`; `core` has the others that
 * running a command needs; `cold` has those of them that few commands use, and is evaluated when one of its functions is
 * first called. The rest is left to the bundler: other commands need it.
 */
function assign(graph: Graph): Assignment {
  const all = (files: string[]) => new Set(files.flatMap((file) => [...reachable(file, graph)]));
  const atStart = all([MAIN]);
  const toGreet = all(TO_GREET);
  const toListen = all(TO_LISTEN);
  const toRun = all(TO_RUN);
  rejectStalePaths([...atStart, ...toRun]);
  const later = [...toRun].filter((id) => !atStart.has(id));
  const common = new Set(later.filter((id) => toGreet.has(id)));
  const core = new Set(later.filter((id) => !toGreet.has(id)));
  const only = (ids: ReadonlySet<string>) => new Set([...ids].filter((id) => !atStart.has(id) && !toRun.has(id)));
  return {
    start: new Set([...atStart].filter((id) => id !== MAIN)),
    common,
    greet: only(toGreet),
    listen: only(toListen),
    cold: coldModules(new Set([...core].filter(isSeldomUsed)), core, graph),
    core,
  };
}

function chunkOf(id: string, graph: Graph): string | null {
  assigned ??= assign(graph);
  // The bundler puts its own functions, which all chunks import, into the first chunk that it forms by itself.
  if (id.includes("/node_modules/ws/")) return "ws";
  return Object.entries(assigned).find(([, ids]) => ids.has(id))?.[0] ?? null;
}

const paths = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/**
 * Paths that a plain, allowed command does not use: configuration schemas, the shell parser, other executors, approvals,
 * error messages. `coldModules` removes those that cannot be evaluated late.
 */
const COLD = paths(`node_modules/zod/ node_modules/unbash/ node_modules/jsonc-parser/ src/core/request.ts
  src/config/schema.ts src/config/errors.ts src/config/json.ts
  src/gateway/authorize-input.ts src/gateway/change-feed.ts src/gateway/join-call.ts
  src/executor/portable/ src/executor/processes.ts src/executor/session-owner.ts
  src/executor/native/exit-record.ts src/approval/ src/text/ src/shell/ src/queue/ src/sandbox/describe.ts src/sandbox/hints.ts src/session/failure/ src/session/input-wait.ts src/session/result.ts src/session/errors.ts src/session/refusal.ts
  src/session/terminal/ src/session/logs/read.ts src/session/logs/lines.ts src/session/logs/text.ts
  src/storage/tokens.ts src/storage/sign-ins.ts src/storage/changes.ts
  src/cli/terminal/ src/cli/person.ts`);
/** Exceptions from COLD: paths that every command uses. */
const WARM =
  paths(`src/approval/decision.ts src/approval/programs.ts src/approval/self-approval.ts src/cli/terminal/output.ts src/sandbox/describe.ts
  src/session/terminal/history.ts src/session/terminal/input.ts src/session/terminal/screen-cache.ts
  src/shell/commands/builtin-output.ts src/shell/commands/effects.ts src/shell/commands/handlers.ts
  src/shell/commands/interpreters.ts src/shell/commands/outputs.ts src/shell/commands/unmodeled.ts src/shell/confusable.ts
  src/shell/expand/field.ts src/shell/inspect.ts src/shell/lookup.ts src/shell/path.ts src/shell/quote.ts
  src/shell/walk/call.ts src/shell/walk/project-files.ts src/shell/walk/run.ts src/shell/walk/state.ts
  src/shell/walk/walk.ts src/text/glob.ts src/text/secret`);

/** Fails when a listed file was moved; otherwise it would be loaded at every start without notice. */
function rejectStalePaths(ids: string[]): void {
  const stale = [...COLD, ...WARM].filter((path) => !ids.some((id) => id.includes(`/${path}`)));
  if (stale.length > 0)
    throw new Error(`scripts/bundle.ts: COLD or WARM name paths that are not bundled: ${stale.join(", ")}`);
}

function isSeldomUsed(id: string): boolean {
  const matches = (path: string) => id.includes(`/${path}`);
  return COLD.some(matches) && !WARM.some(matches);
}

/** Turns the two chunks into scripts, whose compiled code can be cached; see src/cli/compile-cache.ts. */
function writeScripts(folder: string): void {
  const files = readdirSync(folder);
  const part = (name: string) => {
    const file = files.find((one) => one.startsWith(`${name}-`) && one.endsWith(".js"));
    if (file === undefined) throw new Error(`the bundler wrote no chunk ${name}`);
    return { file, code: readFileSync(join(folder, file), "utf8") };
  };
  const written = compileAhead({ core: part("core"), cold: part("cold") });
  for (const [file, code] of Object.entries(written)) writeFileSync(join(folder, file), code);
}

function licenses(): string {
  const texts = BUNDLED.map((name) => {
    const folder = join(ROOT, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^LICEN[CS]E(?:\.md)?$/.test(entry));
    if (file === undefined) throw new Error(`${name} has no license file`);
    const text = readFileSync(join(folder, file), "utf8").trim();
    return `${name}\n${"=".repeat(name.length)}\n\n${text}\n`;
  });
  return texts.join("\n\n");
}

/** Names are kept so that stack traces stay readable. Whitespace is a quarter of the code. */
const MINIFY = { compress: false, mangle: false, codegen: { removeWhitespace: true } } as const;

async function bundleMain(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "warn",
    plugins: [sdkInOwnFile(), compiledUrls(), withoutHttp2(), builtinsDirectly()],
    ssr: { noExternal: BUNDLED },
    build: {
      ssr: MAIN,
      outDir: folder,
      emptyOutDir: true,
      target: "node22",
      minify: false,
      copyPublicDir: false,
      rolldownOptions: {
        // One command may import statically a module that another imports dynamically.
        checks: { ineffectiveDynamicImport: false },
        output: {
          minify: MINIFY,
          entryFileNames: "main.js",
          chunkFileNames: "[name]-[hash].js",
          codeSplitting: { groups: [{ name: chunkOf, debugName: "core", includeDependenciesRecursively: false }] },
        },
      },
    },
  });
  writeScripts(folder);
}

/** The file of the MCP SDK in the bundle. */
const SDK_FILE = "mcp-sdk.js";

/** Lets all code import the MCP SDK from its own file. */
function sdkInOwnFile(): Plugin {
  return {
    name: "sdk-in-own-file",
    enforce: "pre",
    resolveId: (id) => (id === SDK || id.startsWith(`${SDK}/`) ? { id: `./${SDK_FILE}`, external: true } : null),
  };
}

/**
 * Bundles the MCP SDK as a script, whose compiled code can be cached. It has its own copy of zod, so that the handshake
 * does not wait for the rest of the bundle.
 */
async function bundleSdk(folder: string): Promise<void> {
  const built = await build({
    configFile: false,
    root: ROOT,
    logLevel: "warn",
    plugins: [builtinsDirectly()],
    ssr: { noExternal: true },
    build: {
      ssr: join(ROOT, "scripts/mcp-sdk.ts"),
      write: false,
      target: "node22",
      minify: false,
      rolldownOptions: { output: { minify: MINIFY, codeSplitting: false } },
    },
  });
  if (!("output" in built)) throw new Error("the bundler wrote several outputs");
  const written = scriptModule({ file: SDK_FILE, code: built.output[0].code });
  for (const [file, code] of Object.entries(written)) writeFileSync(join(folder, file), code);
}

async function bundle(folder: string): Promise<void> {
  await bundleMain(folder);
  await bundleSdk(folder);
  writeFileSync(join(folder, "LICENSES.txt"), licenses());
}

await bundle(resolve(process.argv[2] ?? join(ROOT, "dist/cli")));
