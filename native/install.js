// Installs the keeper: copies the prebuilt one of the package where it fits, else compiles it with the system's C compiler.
// Plain JavaScript for any Node: it runs before the Node version is checked. A missing compiler does not fail the install:
// commands then run under the portable executor, and `sallyport doctor` says so.
//   --strict            compiles it here and turns warnings into errors
//   --prebuilt          compiles the one for the package: static, so that it depends on the kernel only
//   --compile-commands  writes build/compile_commands.json for clangd and clang-tidy, and compiles nothing
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const strict = process.argv.includes("--strict");
const platform = `${process.platform}-${process.arch}`;
const prebuilt = join(here, "prebuilt", platform);
const OUTPUTS = ["build", "prebuilt"];
const sources = sourcesIn("").sort();
const base = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"];
const warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wwrite-strings", "-Werror"];
// Small, quick to fork, and the same wherever it is copied. Not every system has the static C library.
const STATIC = "-static-pie";

/** Paths of the C sources and headers below `folder`, relative to this one. */
function sourcesIn(folder) {
  const entries = readdirSync(join(here, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return OUTPUTS.includes(path) ? [] : sourcesIn(path);
    return /\.[ch]$/.test(path) ? [path] : [];
  });
}

/** Two builds are the same exactly when their flags and sources are: a gateway leaves keepers of other builds alone. */
function buildId() {
  const hash = createHash("sha256").update(base.join(" "));
  for (const name of sources) hash.update(name).update(readFileSync(join(here, name)));
  return hash.digest("hex").slice(0, 12);
}

/** Replaces the keeper by rename, so that another process never runs a half-written one. */
function put(folder, id, make) {
  const target = join(folder, `keeper.${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const result = make(target);
    if (result.status !== 0) return result;
    renameSync(target, join(folder, "keeper"));
    writeFileSync(join(folder, "keeper.id"), id);
    return result;
  } finally {
    rmSync(target, { force: true });
  }
}

function compile(folder, id, flags) {
  const files = sources.filter((name) => name.endsWith(".c")).map((name) => join(here, name));
  const args = [...base, `-I${here}`, ...flags, `-DKEEPER_BUILD="${id}"`, ...files, "-o"];
  const run = (target) => spawnSync(process.env.CC || "cc", [...args, target], { encoding: "utf8" });
  return put(folder, id, run);
}

/** Copies the prebuilt keeper if it was made from these sources for this platform and runs here. */
function takePrebuilt(id) {
  const program = join(prebuilt, "keeper");
  try {
    if (readFileSync(`${program}.id`, "utf8") !== id) return false;
    const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
    if (status !== 0 || !stdout.startsWith(`keeper ${id} `)) return false;
    put(join(here, "build"), id, (target) => {
      copyFileSync(program, target);
      return { status: 0 };
    });
    return true;
  } catch {
    return false; // missing, or for another platform: compile instead
  }
}

function note(text) {
  process.stdout.write(`sallyport: ${text}\n`);
}

function explain({ error, stderr }) {
  if (error && error.code === "ENOENT") {
    note(
      "no C compiler found, so the portable executor is used, which confines nothing (docs/portable.md); for the native" +
        " one install a compiler (Debian, Ubuntu: apt-get install gcc libc6-dev) and run: npm rebuild sallyport",
    );
  } else {
    note(`the native keeper could not be built:\n${stderr || error}`);
  }
}

function install() {
  if (process.platform !== "linux") {
    note("the native keeper is for Linux; nothing to build here");
    return 0;
  }
  const id = buildId();
  if (!strict && takePrebuilt(id)) return 0;
  const flags = strict ? warnings : [];
  const build = join(here, "build");
  let result = compile(build, id, [...flags, STATIC]);
  if (result.status !== 0) result = compile(build, id, flags);
  if (result.status === 0) return 0;
  explain(result);
  return strict ? 1 : 0;
}

function pack() {
  rmSync(join(here, "prebuilt"), { recursive: true, force: true });
  if (platform !== "linux-x64") {
    note(`a package made on ${platform} has no keeper in it: make it on linux-x64`);
    return 1;
  }
  const result = compile(prebuilt, buildId(), [...warnings, STATIC, "-s"]);
  if (result.status !== 0) explain(result);
  return result.status === 0 ? 0 : 1;
}

/** The format is described at https://clang.llvm.org/docs/JSONCompilationDatabase.html. */
function writeCompileCommands() {
  const flags = [...base, `-I${here}`, ...warnings.filter((flag) => flag !== "-Werror"), '-DKEEPER_BUILD="dev"'];
  const commands = sources
    .filter((file) => file.endsWith(".c"))
    .map((file) => ({ directory: here, file, arguments: ["cc", ...flags, "-c", file] }));
  mkdirSync(join(here, "build"), { recursive: true });
  writeFileSync(join(here, "build", "compile_commands.json"), `${JSON.stringify(commands, null, 2)}\n`);
  return 0;
}

function main(option) {
  if (option === "--prebuilt") return pack();
  return option === "--compile-commands" ? writeCompileCommands() : install();
}

process.exitCode = main(process.argv[2]);
