import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";
import { isWithin } from "../../sandbox/workspace.ts";
import { systemLookup } from "../../shell/lookup.ts";
import type { LoadedProfile } from "./profile.ts";

/** What a profile means on this machine. */
export interface ResolvedProfile {
  name: string;
  title: string;
  /** The path of the program. Null when it is not installed. */
  program: string | null;
  writable: string[];
  protected: string[];
  /** Protected paths that are not created. */
  notCreated: string[];
  /** The content with which missing protected files are created, by path. */
  contents: Record<string, string>;
  /** Files to copy if they are missing: the original by its copy. */
  copies: Record<string, string>;
  readable: string[];
  /** The variables of the profile that are set. */
  variables: string[];
  environment: Record<string, string>;
  arguments: string[];
  /** The content of the generated files by name. */
  files: Record<string, string>;
  remains: string[];
}

interface Machine {
  home: string;
  workspace: string;
  runFolder: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** Resolves a profile without creating or starting anything. */
export function resolveProfile(profile: LoadedProfile, machine: Machine): ResolvedProfile {
  const fill = (text: string) => withValues(text, machine);
  const expand = (path: string) => fill(path).replace(/^~(?=\/)/, machine.home);
  const lookup = systemLookup(machine.env.PATH || undefined);
  const found = profile.programs.map((name) => lookup.which(name.includes("/") ? expand(name) : name, null));
  return {
    name: profile.name,
    title: profile.title,
    program: found.find((path) => path !== null) ?? null,
    writable: profile.writable.map(expand),
    protected: profile.protected
      .map((entry) => ({ entry, path: expand(typeof entry === "string" ? entry : entry.path) }))
      .filter(({ entry, path }) => !isObjectWith(entry, "ifPresent") || existsSync(withoutSlash(path)))
      .map(({ path }) => path),
    notCreated: profile.protected.flatMap((entry) => (isObjectWith(entry, "create") ? [expand(entry.path)] : [])),
    contents: Object.fromEntries(
      profile.protected.flatMap((entry) =>
        isObjectWith(entry, "content") ? [[expand(entry.path), entry.content]] : [],
      ),
    ),
    copies: Object.fromEntries(Object.entries(profile.copies).map(([copy, from]) => [expand(copy), expand(from)])),
    readable: profile.readable.map(expand),
    variables: profile.variables.filter((name) => machine.env[name] !== undefined),
    environment: mapValues(profile.environment, fill),
    arguments: [...profile.arguments, ...missingDefaults(profile.defaults, { expand, fill })].map(fill),
    files: mapValues(profile.files, (content) => (typeof content === "string" ? fill(content) : json(content, fill))),
    remains: profile.remains,
  };
}

/** Returns the arguments for settings that the user has not made. */
function missingDefaults(
  defaults: LoadedProfile["defaults"],
  { expand, fill }: Record<"expand" | "fill", (text: string) => string>,
): string[] {
  return defaults.flatMap(({ file, lacks, arguments: added }) => {
    const path = expand(file);
    const isSet = existsSync(path) && readFileSync(path, "utf8").includes(fill(lacks));
    return isSet ? [] : added;
  });
}

type ProtectedEntry = LoadedProfile["protected"][number];

function isObjectWith<Key extends "content" | "create" | "ifPresent">(
  entry: ProtectedEntry,
  key: Key,
): entry is Extract<ProtectedEntry, Record<Key, unknown>> {
  return typeof entry === "object" && key in entry;
}

/** Replaces the names of folders and programs in a value. docs/agent-profiles.md lists them. */
function withValues(text: string, { home, workspace, runFolder, env }: Machine): string {
  const values: Record<string, string> = {
    home,
    workspace,
    quoted_workspace: JSON.stringify(workspace),
    run: runFolder,
    shell: join(runFolder, "bin/bash"),
    relay: join(runFolder, "bin/sallyport-relay"),
    path: env.PATH ?? "",
    config: absoluteOr(env.XDG_CONFIG_HOME, `${home}/.config`),
    data: absoluteOr(env.XDG_DATA_HOME, `${home}/.local/share`),
    state: absoluteOr(env.XDG_STATE_HOME, `${home}/.local/state`),
  };
  return text
    .replace(/\$\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
    .replace(/\$\{([A-Z_][A-Z0-9_]*):-([^}]+)\}/g, (_, name: string, otherwise: string) =>
      absoluteOr(env[name], otherwise.replace(/^~(?=\/)/, home)),
    );
}

/** A relative path is ignored, as the XDG specification says: it would mean another folder in each directory. */
function absoluteOr(set: string | undefined, usual: string): string {
  return set?.startsWith("/") ? withoutSlash(set) : usual;
}

function mapValues<From, To>(values: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

function json(content: unknown, fill: (text: string) => string): string {
  const filled = JSON.stringify(content, (_, value: unknown) => (typeof value === "string" ? fill(value) : value), 2);
  return `${filled}\n`;
}

/** Throws `CommandNotFound` when the program is not installed. */
export function assertInstalled(profile: LoadedProfile, { program }: ResolvedProfile): string {
  if (program !== null) return program;
  const names = profile.programs.map((name) => `\`${name}\``).join(", ");
  throw new SallyportError("CommandNotFound", `${profile.title} is not installed: found none of ${names}.`, [
    operatorStep(
      "install",
      profile.install ? `Install it with \`${profile.install}\`.` : "Install it, or name its path in `programs`.",
    ),
  ]);
}

/**
 * Creates the writable and protected paths of a program that do not exist: a path that is missing can be neither made
 * writable nor protected. A path that ends with a slash is a folder; an empty `.json` or `.jsonc` file is an empty object.
 */
export function createPaths({ writable, protected: kept, notCreated, contents, copies }: ResolvedProfile): void {
  const roots = writable.map(withoutSlash);
  for (const [copy, from] of Object.entries(copies)) {
    if (existsSync(from) && !existsSync(copy)) create(copy, readFileSync(from, "utf8"));
  }
  for (const path of [...writable, ...kept.filter((each) => !notCreated.includes(each))]) {
    const isOwn = roots.some((root) => isWithin(withoutSlash(path), root));
    if (isOwn && lstatSync(withoutSlash(path), { throwIfNoEntry: false }) === undefined) create(path, contents[path]);
  }
}

function create(path: string, content = /\.jsonc?$/.test(path) ? "{}\n" : ""): void {
  mkdirSync(path.endsWith("/") ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (path.endsWith("/") || existsSync(path)) return;
  writeFileSync(path, content, { mode: 0o600, flag: "wx" });
}

export function withoutSlash(path: string): string {
  return path.replace(/\/+$/, "");
}
