// Installs the keeper, the relay and the client: copies the prebuilt ones of the package if they run here, otherwise
// compiles them with the system C compiler. This is plain JavaScript for any version of Node, because it runs before the version is checked. A
// missing compiler does not fail the installation: commands then run under the portable executor, and
// `sallyport doctor` reports it. Options:
//   --strict            compile the keeper and treat warnings as errors
//   --prebuilt          compile the keeper for the package, statically linked so that it depends only on the kernel
//   --compile-commands  only write build/compile_commands.json, for clangd and clang-tidy
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const strict = process.argv.includes("--strict");
const platform = `${process.platform}-${process.arch}`;
const prebuilt = join(here, "prebuilt", platform);
const OUTPUTS = ["build", "prebuilt"];
/** Makes the client print its build for `--version`, as the keeper does. */
const BUILD_VARIABLE = "SALLYPORT_CLIENT_BUILD";
const isRelay = (name) => name.startsWith("relay/");
const isClient = (name) => name.startsWith("client/");
const sources = sourcesIn("").sort();
/** The builds and their programs, each with its sources. The last program of a build has its name and its ID. */
const KEEPER = {
  name: "keeper",
  macro: "KEEPER_BUILD",
  programs: [
    { name: "relay", sources: sources.filter(isRelay) },
    { name: "keeper", sources: sources.filter((name) => !isRelay(name) && !isClient(name)) },
  ],
};
/** The command `sallyport` without the start of Node. */
const CLIENT = {
  name: "client",
  macro: "CLIENT_BUILD",
  programs: [{ name: "client", sources: sources.filter(isClient) }],
};
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

/**
 * Returns an ID that identifies the flags and sources of a build. A gateway uses only keepers of its own build. A client
 * uses only a resident gateway of its own build, which runs the code in dist/.
 */
function buildId(build) {
  const hash = createHash("sha256").update(base.join(" "));
  const names = build.programs.flatMap((program) => program.sources).sort();
  for (const name of names) hash.update(name).update(readFileSync(join(here, name)));
  if (build === CLIENT) for (const file of codeFiles()) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}

/** Returns package.json and, in a built package, the bundled command line. */
function codeFiles() {
  const folder = join(here, "../dist/cli");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".js")) : [];
  return [join(here, "../package.json"), ...names.sort().map((name) => join(folder, name))];
}

/** Replaces a program by rename, so that no other process runs an incomplete file. */
function put(folder, name, make) {
  const target = join(folder, `${name}.${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const result = make(target);
    if (result.status === 0) renameSync(target, join(folder, name));
    return result;
  } finally {
    rmSync(target, { force: true });
  }
}

/** Puts the programs of a build into a folder with `make`, and then its ID. Returns the first failure. */
function putAll(build, folder, id, make) {
  for (const program of build.programs) {
    const result = put(folder, program.name, (target) => make(program, target));
    if (result.status !== 0) return result;
  }
  writeFileSync(join(folder, `${build.name}.id`), id);
  return { status: 0 };
}

function compile(build, folder, id, flags) {
  return putAll(build, folder, id, (program, target) => {
    const files = program.sources.filter((name) => name.endsWith(".c")).map((name) => join(here, name));
    const args = [...base, `-I${here}`, ...flags, `-D${build.macro}="${id}"`, ...files, "-o", target];
    return spawnSync(process.env.CC || "cc", args, { encoding: "utf8" });
  });
}

/** Copies the prebuilt programs if they were built from these sources for this platform and run on this machine. */
function takePrebuilt(build, id) {
  const program = join(prebuilt, build.name);
  try {
    if (readFileSync(`${program}.id`, "utf8") !== id) return false;
    const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8", env: { [BUILD_VARIABLE]: "1" } });
    if (status !== 0 || !stdout.startsWith(`${build.name} ${id} `)) return false;
    putAll(build, join(here, "build"), id, ({ name }, target) => {
      copyFileSync(join(prebuilt, name), target);
      return { status: 0 };
    });
    return true;
  } catch {
    return false; // missing or for another platform, so they are compiled
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
  const failed = make(KEEPER);
  if (failed) {
    explain(failed);
    return strict ? 1 : 0;
  }
  const missing = make(CLIENT);
  if (missing && strict) explain(missing);
  if (!missing) recordNode();
  if (!missing) useClient();
  return missing && strict ? 1 : 0;
}

/**
 * Writes the path of this Node, which the client then runs. Without it, the client would run the first `node` on PATH,
 * which may be in a folder that commands can write to. In a checkout, the versions of Node on PATH are those under test.
 */
function recordNode() {
  const file = join(here, "build/node-path");
  rmSync(file, { force: true });
  const [major, minor] = process.versions.node.split(".").map(Number);
  const isNewEnough = major > 22 || (major === 22 && minor >= 19);
  if (isNewEnough && !existsSync(join(here, "../src"))) writeFileSync(file, `${process.execPath}\n`);
}

/** Makes a build in build/. Returns the result of the compiler if that fails. */
function make(build) {
  const id = buildId(build);
  if (!strict && takePrebuilt(build, id)) return null;
  const flags = strict ? warnings : [];
  const folder = join(here, "build");
  let result = compile(build, folder, id, [...flags, STATIC]);
  if (result.status !== 0) result = compile(build, folder, id, flags);
  return result.status === 0 ? null : result;
}

/**
 * Replaces the launchers, which npm has linked as the commands of the package, with the native client. Other package
 * managers start the launchers with Node, also after they were replaced. In a checkout they are files of the repository.
 */
function useClient() {
  if (!/^npm\//.test(process.env.npm_config_user_agent || "") || existsSync(join(here, "../src"))) return;
  for (const name of ["sallyport.cjs", "sallyport-sh.cjs"]) {
    try {
      put(join(here, "../bin"), name, (target) => {
        copyFileSync(join(here, "build/client"), target);
        return { status: 0 };
      });
    } catch {
      return; // the package is read-only, so the launcher stays
    }
  }
}

function pack() {
  rmSync(join(here, "prebuilt"), { recursive: true, force: true });
  if (platform !== "linux-x64") {
    note(`cannot build the keeper for the package on ${platform}; build the package on linux-x64`);
    return 1;
  }
  for (const build of [KEEPER, CLIENT]) {
    const result = compile(build, prebuilt, buildId(build), [...warnings, STATIC, "-s"]);
    if (result.status === 0) continue;
    explain(result);
    return 1;
  }
  return 0;
}

/** Writes build/compile_commands.json; see https://clang.llvm.org/docs/JSONCompilationDatabase.html. */
function writeCompileCommands() {
  const flags = [
    ...base,
    `-I${here}`,
    ...warnings.filter((flag) => flag !== "-Werror"),
    '-DKEEPER_BUILD="dev"',
    '-DCLIENT_BUILD="dev"',
  ];
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
