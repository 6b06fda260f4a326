// Installs the keeper: copies the prebuilt one of the package if it runs here, otherwise compiles it with the system C
// compiler. This is plain JavaScript for any version of Node, because it runs before the version is checked. A
// missing compiler does not fail the installation: commands then run under the portable executor, and
// `sallyport doctor` reports it. Options:
//   --strict            compile the keeper and treat warnings as errors
//   --prebuilt          compile the keeper for the package, statically linked so that it depends only on the kernel
//   --compile-commands  only write build/compile_commands.json, for clangd and clang-tidy
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
const base = ["-std=c11", "-D_GNU_SOURCE", "-pthread", "-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"];
const warnings = ["-Wall", "-Wextra", "-Wshadow", "-Wwrite-strings", "-Werror"];
// A static executable is small, fast to fork, and runs on any distribution. Some systems lack the static C library.
const STATIC = "-static-pie";

/** Returns the paths of the C sources and headers below `folder`, relative to the folder of this file. */
function sourcesIn(folder) {
  const entries = readdirSync(join(here, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return OUTPUTS.includes(path) ? [] : sourcesIn(path);
    return /\.[ch]$/.test(path) ? [path] : [];
  });
}

/** Returns an ID that identifies the flags and sources of a build. A gateway uses only keepers of its own build. */
function buildId() {
  const hash = createHash("sha256").update(base.join(" "));
  for (const name of sources) hash.update(name).update(readFileSync(join(here, name)));
  return hash.digest("hex").slice(0, 12);
}

/** Replaces the keeper by rename, so that no other process runs an incomplete file. */
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

/** Copies the prebuilt keeper if it was built from these sources for this platform and runs on this machine. */
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
    return false; // missing or for another platform, so the keeper is compiled
  }
}

function note(text) {
  process.stdout.write(`sallyport: ${text}\n`);
}

function explain({ error, stderr }) {
  if (error && error.code === "ENOENT") {
    note(
      "no C compiler found. Commands run under the portable executor, without a sandbox (docs/portable.md)." +
        " To build the native keeper, install a compiler (Debian, Ubuntu: apt-get install gcc libc6-dev)" +
        " and run `npm rebuild sallyport`.",
    );
  } else {
    note(`could not build the native keeper:\n${stderr || error}`);
  }
}

function install() {
  if (process.platform !== "linux") {
    note("the native keeper requires Linux, so it is not built. Commands run under the portable executor.");
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
    note(`cannot build the keeper for the package on ${platform}; build the package on linux-x64`);
    return 1;
  }
  const result = compile(prebuilt, buildId(), [...warnings, STATIC, "-s"]);
  if (result.status !== 0) explain(result);
  return result.status === 0 ? 0 : 1;
}

/** Writes build/compile_commands.json; see https://clang.llvm.org/docs/JSONCompilationDatabase.html. */
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
