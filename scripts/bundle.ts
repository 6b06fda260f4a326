/**
 * Puts the command line's four hundred small files, and the two packages that every command needs, together into a few:
 * most of a cold start is finding and reading them. The library stays as it is compiled, file by file.
 *
 * `node scripts/bundle.ts [FOLDER]`; without a folder to dist/cli.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { build, type Plugin } from "vite";
import { oneScript } from "./one-script.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCE = join(ROOT, "src");
const BUNDLED = ["zod", "unbash"];

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

interface Graph {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

/** All that a file imports, and what that imports, as far as it is loaded at once. */
function reachable(from: string, graph: Graph, found = new Set<string>()): Set<string> {
  if (found.has(from)) return found;
  found.add(from);
  for (const id of graph.getModuleInfo(from)?.importedIds ?? []) reachable(id, graph, found);
  return found;
}

const MAIN = join(SOURCE, "surfaces/cli/main.ts");
const TO_RUN = [join(SOURCE, "surfaces/cli/commands/run.ts"), join(SOURCE, "gateway/open.ts")];
let atStart: Set<string> | null = null;
let toRun: Set<string> | null = null;

/** What it takes to run a command is one file; what every command line takes is in the first, and not here. */
function chunkOf(id: string, graph: Graph): string | null {
  atStart ??= reachable(MAIN, graph);
  toRun ??= new Set(TO_RUN.flatMap((file) => [...reachable(file, graph)]));
  return toRun.has(id) && !atStart.has(id) ? "core" : null;
}

/** What it takes to run a command is compiled ahead, which takes a script; see src/surfaces/cli/compiled.ts. */
function compileAhead(folder: string): void {
  for (const file of readdirSync(folder).filter((name) => /^core-.*\.js$/.test(name))) {
    const { script, module } = oneScript("core", readFileSync(join(folder, file), "utf8"));
    writeFileSync(join(folder, script.name), script.code);
    writeFileSync(join(folder, file), module);
  }
}

function licences(): string {
  const texts = BUNDLED.map((name) => {
    const text = readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8").trim();
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
  compileAhead(folder);
  writeFileSync(join(folder, "LICENSES.txt"), licences());
}

await bundle(resolve(process.argv[2] ?? join(ROOT, "dist/cli")));
