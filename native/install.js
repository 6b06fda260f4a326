// Builds the keeper with the system's C compiler. Plain JavaScript for any Node: it runs before anything is checked.
// No compiler is not a failed install: commands then run under the portable executor, and `sallyport doctor` says so.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const strict = process.argv.includes("--strict");
const sources = readdirSync(here)
  .filter((name) => /\.[ch]$/.test(name))
  .sort();
const base = ["-std=c99", "-D_GNU_SOURCE", "-O2", "-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"];
const warnings = strict ? ["-Wall", "-Wextra", "-Wshadow", "-Wwrite-strings", "-Werror"] : [];

/** Two builds are the same exactly when their sources are: a running keeper of another build is left alone. */
function buildId() {
  const hash = createHash("sha256").update(base.join(" "));
  for (const name of sources) hash.update(name).update(readFileSync(join(here, name)));
  return hash.digest("hex").slice(0, 12);
}

function compile(id, linking) {
  const target = join(here, "build", `keeper.${process.pid}`);
  const files = sources.filter((name) => name.endsWith(".c")).map((name) => join(here, name));
  const args = [...base, ...warnings, `-DKEEPER_BUILD="${id}"`, ...linking, ...files, "-o", target];
  const result = spawnSync(process.env.CC || "cc", args, { encoding: "utf8" });
  if (result.status === 0) renameSync(target, join(here, "build", "keeper"));
  return result;
}

function note(text) {
  process.stdout.write(`sallyport: ${text}\n`);
}

function install() {
  if (process.platform !== "linux") {
    note("the native keeper is for Linux; nothing to build here");
    return 0;
  }
  mkdirSync(join(here, "build"), { recursive: true });
  const id = buildId();
  // Static: small, quick to fork, and the same wherever it is copied. Not every system has the static C library.
  let result = compile(id, ["-static-pie"]);
  if (result.status !== 0) result = compile(id, []);
  if (result.status === 0) {
    writeFileSync(join(here, "build", "keeper.id"), id);
    return 0;
  }
  rmSync(join(here, "build", `keeper.${process.pid}`), { force: true });
  if (result.error && result.error.code === "ENOENT") {
    note(
      "no C compiler found, so the portable executor is used, which confines nothing (docs/portable.md); for the native" +
        " one install a compiler (Debian, Ubuntu: apt-get install gcc libc6-dev) and run: npm rebuild sallyport",
    );
  } else {
    note(`the native keeper could not be built:\n${result.stderr || result.error}`);
  }
  return strict ? 1 : 0;
}

process.exitCode = install();
