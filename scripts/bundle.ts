/**
 * Puts the command line's four hundred small files, and the packages that every command needs, together into a few:
 * most of a cold start is finding and reading them. The library stays as it is compiled, file by file.
 *
 * `node scripts/bundle.ts [FOLDER]`; without a folder to dist/cli.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "vite";
import { coldModules, type Graph } from "./cold-modules.ts";
import { compileAhead } from "./compile-ahead.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCE = join(ROOT, "src");
const BUNDLED = ["zod", "unbash", "jsonc-parser"];

/** A file that finds others by its own place goes by the place it is compiled to. */
function ownPlaces(): Plugin {
  return {
    name: "own-places",
    transform(code, id) {
      if (!id.startsWith(SOURCE) || !code.includes("import.meta.url")) return null;
      const compiled = `../${relative(SOURCE, id).replace(/\.ts$/, ".js")}`;
      return { code: code.replaceAll("import.meta.url", `new URL("${compiled}", import.meta.url).href`), map: null };
    },
  };
}

/** Of these only functions are used, and by most commands none: each is asked for when it is first called. */
const LATE = new Set(
  ["child_process", "crypto", "readline/promises", "stream/consumers", "timers/promises", "zlib"].map(
    (n) => `node:${n}`,
  ),
);

/**
 * Node's own modules are asked for directly: importing one makes every export of it, and the streams that `node:fs`
 * exports take longer to load than all of ours.
 */
function builtinsDirectly(): Plugin {
  return {
    name: "builtins-directly",
    renderChunk(code) {
      // What they are promisified by is a property of theirs, which the functions that ask for them do not have.
      if (/\bpromisify\((exec|execFile)\)/.test(code)) throw new Error("promisify(execFile) gives another result here");
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
  const [theirs, ours = theirs] = name.split(" as ");
  if (!/^[a-z]/.test(theirs ?? "")) throw new Error(`${from}: ${theirs} is no plain function`);
  return `const ${ours} = (...given) => process.getBuiltinModule("${from}").${theirs}(...given);`;
}

/** All that a file imports, and what that imports, as far as it is loaded at once. */
function reachable(from: string, graph: Graph, found = new Set<string>()): Set<string> {
  if (found.has(from)) return found;
  found.add(from);
  for (const id of graph.getModuleInfo(from)?.importedIds ?? []) reachable(id, graph, found);
  return found;
}

const MAIN = join(SOURCE, "cli/main.ts");
const TO_RUN = [join(SOURCE, "cli/commands/session/run.ts"), join(SOURCE, "gateway/open.ts")];
let atStart: Set<string> | null = null;
let toRun: Set<string> | null = null;
let cold: Set<string> | null = null;

/**
 * What it takes to run a command is one file; what every command line takes is in the first, and not here. What few
 * commands take is another, which is left until one of its functions is called.
 */
function chunkOf(id: string, graph: Graph): string | null {
  atStart ??= reachable(MAIN, graph);
  const known = atStart;
  toRun ??= new Set(TO_RUN.flatMap((file) => [...reachable(file, graph)]).filter((one) => !known.has(one)));
  if (cold === null) rejectStalePlaces([...known, ...toRun]);
  cold ??= coldModules(new Set([...toRun].filter(isSeldomUsed)), toRun, graph);
  if (!toRun.has(id)) return null;
  return cold.has(id) ? "cold" : "core";
}

const places = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/**
 * What a plain command that is allowed has no use for: schemas of what is written by hand, the shell's language, other
 * executors, people's answers, the words for what went wrong. What cannot be left until it is called is found out.
 */
const COLD = places(`node_modules/zod/ node_modules/unbash/ node_modules/jsonc-parser/ src/core/request.ts
  src/config/schema.ts src/config/errors.ts src/config/json.ts
  src/gateway/authorize-input.ts src/gateway/change-feed.ts
  src/executor/portable/ src/executor/processes.ts src/executor/session-owner.ts
  src/executor/native/exit-record.ts src/approval/ src/text/ src/shell/ src/queue/ src/sandbox/describe.ts src/sandbox/hints.ts src/session/failure/ src/session/result.ts src/session/errors.ts src/session/refusal.ts
  src/session/terminal/ src/session/logs/read.ts src/session/logs/lines.ts src/session/logs/text.ts
  src/storage/tokens.ts src/storage/sign-ins.ts src/storage/changes.ts
  src/cli/terminal/ src/cli/person.ts`);
/** Of those the ones that every command passes through. */
const WARM = places(`src/approval/decision.ts src/approval/programs.ts src/sandbox/describe.ts
  src/text/glob.ts src/text/secret
  src/session/terminal/command-readers.ts
  src/session/terminal/screen-cache.ts src/session/terminal/history.ts
  src/session/terminal/input.ts src/shell/commands/effects.ts src/shell/commands/interpreters.ts
  src/shell/walk/call.ts src/shell/expand/field.ts src/shell/commands/handlers.ts src/shell/confusable.ts
  src/shell/inspect.ts src/shell/lookup.ts src/shell/path.ts src/shell/quote.ts src/shell/walk/run.ts src/shell/walk/state.ts
  src/shell/walk/walk.ts`);

/** A file that has moved would be loaded at every start without notice. */
function rejectStalePlaces(ids: string[]): void {
  const stale = [...COLD, ...WARM].filter((place) => !ids.some((id) => id.includes(`/${place}`)));
  if (stale.length > 0)
    throw new Error(`scripts/bundle.ts: COLD or WARM name paths that are not bundled: ${stale.join(", ")}`);
}

function isSeldomUsed(id: string): boolean {
  const lies = (place: string) => id.includes(`/${place}`);
  return COLD.some(lies) && !WARM.some(lies);
}

/** What it takes to run a command is compiled ahead, which takes scripts; see src/cli/compile-cache.ts. */
function writeScripts(folder: string): void {
  const files = readdirSync(folder);
  const part = (name: string) => {
    const file = files.find((one) => one.startsWith(`${name}-`) && one.endsWith(".js"));
    if (file === undefined) throw new Error(`there is no chunk ${name}`);
    return { file, code: readFileSync(join(folder, file), "utf8") };
  };
  const written = compileAhead({ core: part("core"), cold: part("cold") });
  for (const [file, code] of Object.entries(written)) writeFileSync(join(folder, file), code);
}

function licences(): string {
  const texts = BUNDLED.map((name) => {
    const folder = join(ROOT, "node_modules", name);
    const file = readdirSync(folder).find((entry) => /^LICEN[CS]E(?:\.md)?$/.test(entry));
    if (file === undefined) throw new Error(`${name} has no license file`);
    const text = readFileSync(join(folder, file), "utf8").trim();
    return `${name}\n${"=".repeat(name.length)}\n\n${text}\n`;
  });
  return texts.join("\n\n");
}

async function bundle(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: "warn",
    plugins: [ownPlaces(), builtinsDirectly()],
    ssr: { noExternal: BUNDLED },
    build: {
      ssr: MAIN,
      outDir: folder,
      emptyOutDir: true,
      target: "node22",
      minify: false,
      copyPublicDir: false,
      rolldownOptions: {
        // What one command loads late another may load at once; each is right for itself.
        checks: { ineffectiveDynamicImport: false },
        output: {
          // Names stay, for those who read a stack; layout is a quarter of what there is to read.
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
          entryFileNames: "main.js",
          chunkFileNames: "[name]-[hash].js",
          codeSplitting: { groups: [{ name: chunkOf, debugName: "core", includeDependenciesRecursively: false }] },
        },
      },
    },
  });
  writeScripts(folder);
  writeFileSync(join(folder, "LICENSES.txt"), licences());
}

await bundle(resolve(process.argv[2] ?? join(ROOT, "dist/cli")));
