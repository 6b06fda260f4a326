/**
 * The AppArmor profile of the keeper. Ubuntu (since 23.10) restricts user namespaces to programs with such a profile, and
 * without user namespaces the commands of ordinary users are only partly confined.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sandboxCapabilities } from "../executor/native/probe.ts";
import { KEEPER_FOLDERS, keeperBinary } from "../executor/native/zygote.ts";
import { quoteArgv, quoteWord } from "../shell/quote.ts";
import { findOnPath } from "./executor.ts";
import { type Finding, type Machine, machinePath, ok, readMachineFile, warn } from "./finding.ts";

const NAME = "apparmor";
const TEMPLATE = new URL("../../native/apparmor-profile.in", import.meta.url);
const PROFILE = "/etc/apparmor.d/sallyport-keeper";
const RESTRICTION = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/** Reports whether AppArmor prevents ordinary users from creating user namespaces. */
export function isRestricted(machine: Machine): boolean {
  return readMachineFile(machine, RESTRICTION) === "1";
}

/** Checks that the keeper has a profile, if AppArmor requires one. */
export function checkAppArmor(machine: Machine): Finding {
  if (!isRestricted(machine)) return ok(NAME, "does not restrict user namespaces");
  const works = userNamespacesWork(machine);
  if (works === true) return ok(NAME, "allows the keeper to create user namespaces");
  const installed = readMachineFile(machine, PROFILE) === renderProfile().trim();
  // A profile that has no effect is not loaded, which the fix does too.
  if (installed && works === null) return ok(NAME, `${PROFILE} is installed`);
  return warn(
    NAME,
    "prevents ordinary users from creating user namespaces, so that their commands are not fully confined",
    `Run \`sallyport doctor --fix\`, which installs a profile for the keeper, or prints the \`sudo\` command for it.`,
  );
}

/** Reports whether the keeper can create user namespaces. Null if that is not known: root needs none. */
function userNamespacesWork({ root }: Machine): boolean | null {
  if (root !== undefined || process.getuid?.() === 0) return null;
  return sandboxCapabilities().mounts !== "none";
}

/** Returns the profile for the keeper of this installation. */
export function renderProfile(keepers: readonly string[] = keeperPaths()): string {
  return readFileSync(fileURLToPath(TEMPLATE), "utf8").replace("@KEEPER@", () => attachment(keepers));
}

/**
 * Returns the paths at which this installation may have its keeper: a keeper that is built later is in another folder
 * than a prebuilt one. AppArmor compares paths without symbolic links.
 */
function keeperPaths(): string[] {
  if (process.env.SALLYPORT_KEEPER) return [realpathSync(keeperBinary())];
  return KEEPER_FOLDERS.map((folder) => join(realParent(folder), "keeper"));
}

/** Resolves the links of the part of a path that exists. */
function realParent(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    const parent = join(folder, "..");
    return parent === folder ? folder : join(realParent(parent), folder.slice(parent.length));
  }
}

/** Returns paths as the attachment of a profile. Characters with a meaning in AppArmor's patterns are escaped. */
function attachment(paths: readonly string[]): string {
  for (const path of paths) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters would end the line or the profile.
    if (/[\x00-\x1f\x7f]/.test(path)) throw new Error(`the path ${JSON.stringify(path)} contains control characters`);
  }
  // An attachment must start with a slash, which is why the paths after it are the alternatives.
  const escaped = [...new Set(paths)].map((path) => path.slice(1).replace(/[\\"*?[\]{}^,]/g, "\\$&"));
  return `"/${escaped.length === 1 ? escaped[0] : `{${escaped.join(",")}}`}"`;
}

/** Returns why this process cannot install the profile, with the command that does; null if it can. */
export function manualInstall(machine: Machine): string | null {
  try {
    accessSync(join(machinePath(machine, PROFILE), ".."), constants.W_OK);
    return null;
  } catch {
    const write = quoteArgv(["printf", "%s", renderProfile()]);
    return `${write} | sudo tee ${quoteWord(PROFILE)} > /dev/null && sudo apparmor_parser -r ${quoteWord(PROFILE)}`;
  }
}

/** Writes the profile and loads it. Throws with the message of the parser, in which case no profile remains. */
export function installProfile(machine: Machine): string {
  const parser = findOnPath(["apparmor_parser", "/usr/sbin/apparmor_parser", "/sbin/apparmor_parser"]);
  if (parser === null) throw new Error("`apparmor_parser` was not found; install the package `apparmor`");
  const target = machinePath(machine, PROFILE);
  const written = `${target}.new`;
  writeFileSync(written, renderProfile(), { mode: 0o644 });
  try {
    execFileSync(parser, ["-r", written], { stdio: ["ignore", "ignore", "pipe"] });
    renameSync(written, target);
  } catch (error) {
    rmSync(written, { force: true });
    throw error;
  }
  return `wrote ${target} and loaded it`;
}
