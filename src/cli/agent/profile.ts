import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { configError, schemaError } from "../../config/errors.ts";
import { isJsonSyntaxError, type JsonDocument, readJson } from "../../config/json.ts";
import { operatorConfigPath } from "../../config/load.ts";
import { SallyportError } from "../../core/error.ts";
import { operatorStep } from "../../core/next-step.ts";
import { nearest } from "../../text/nearest.ts";

/** The folder of the built-in profiles. The relative path is the same from src/ and from dist/. */
const BUILT_IN = fileURLToPath(new URL("../../../profiles/", import.meta.url));

const text = z.string().min(1);
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Matches an absolute path or one in the home directory, below the root and the home themselves. */
const PATH = /^(?:~|\$\{(?:workspace|config|data|state)\})?\/[^\0]*[^/\0][^\0]*$|^\$\{[A-Z_][A-Z0-9_]*:-~?\/[^}\0]+\}/;
const path = text.regex(
  PATH,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: placeholders of a profile
  "must be a path that starts with `/`, `~/`, `${workspace}/`, `${config}/`, `${data}/`, `${state}/` or `${NAME:-PATH}`",
);
const variable = text.regex(VARIABLE, "must be a variable name");

const ProtectedPath = z.union([
  z.strictObject({ path, content: z.string() }),
  z.strictObject({ path, create: z.literal(false) }),
  z.strictObject({ path, ifPresent: z.literal(true) }),
]);

/** The schema of a profile. docs/agent-profiles.md is generated from its descriptions. */
export const Profile = z.strictObject({
  $schema: z.string().optional().describe("The JSON Schema of this file, for editors"),
  extends: text.regex(NAME, "must be the name of a profile").optional().describe("The profile that this one adds to"),
  title: text.optional().describe("The name of the program in messages"),
  programs: z
    .array(text)
    .optional()
    .describe("The program: names to find on PATH, or paths. The first one that exists is started"),
  install: text.optional().describe("How to install the program, for the message when it is missing"),
  writable: z
    .array(path)
    .optional()
    .describe(
      "The program's own configuration, caches and data. A path that ends with `/` is a folder. Missing ones are created",
    ),
  protected: z
    .array(
      z.union(
        [path, ProtectedPath],
        "must be a path, { path, content }, { path, create: false } or { path, ifPresent: true }",
      ),
    )
    .optional()
    .describe(
      "Paths within `writable` that stay read-only, because the program runs what they contain. Missing ones are " +
        "created empty, or with `content`. With `create: false` they are not, and the program is ended if one appears. " +
        "With `ifPresent: true` a missing path is ignored",
    ),
  copies: z
    .record(path, path)
    .optional()
    .describe(
      "Files of the program that are created as copies of your own, if they are missing: the copy, and the original",
    ),
  readable: z
    .array(path)
    .optional()
    .describe("Paths with credentials that the program can read, although its commands cannot"),
  variables: z
    .array(variable)
    .optional()
    .describe("Variables that the program inherits although they look like secrets. Its commands do not have them"),
  environment: z.record(variable, z.string()).optional().describe("Variables that are set for the program"),
  arguments: z.array(z.string()).optional().describe("Arguments before those of the command line"),
  defaults: z
    .array(z.strictObject({ file: path, lacks: text, arguments: z.array(z.string()) }))
    .optional()
    .describe(
      "Further arguments, each for a setting that you may have made yourself: they are added if `file` does not contain " +
        "the text `lacks`",
    ),
  files: z
    .record(
      text.regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, "must be a file name"),
      z.union([z.string(), z.record(z.string(), z.unknown())], "must be text or an object"),
    )
    .optional()
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of a profile
    .describe("Configuration files for this run, in `${run}`: text, or an object that is written as JSON"),
  remains: z
    .array(text)
    .optional()
    .describe("What the program can still run or reach without a verdict, for `--print`"),
});
export type Profile = z.infer<typeof Profile>;

/** A profile with everything it extends. */
export type LoadedProfile = Omit<Required<Profile>, "$schema" | "extends"> & { name: string };

/** Returns the names of the built-in profiles and of those in the operator's configuration folder. */
export function profileNames(env: NodeJS.ProcessEnv = process.env): string[] {
  return [...new Set([...namesIn(BUILT_IN), ...namesIn(operatorFolder(env))])].sort();
}

function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((file) => (file.endsWith(".json") ? [basename(file, ".json")] : []));
}

function operatorFolder(env: NodeJS.ProcessEnv): string {
  return join(dirname(operatorConfigPath(env)), "agents");
}

/**
 * Loads the profile of a program: `file` if it is given, else the operator's `agents/NAME.json`, else the built-in one.
 * Throws `InvalidConfiguration`, or `InvalidRequest` for an unknown name.
 */
export function loadProfile(name: string, file: string | null, env: NodeJS.ProcessEnv = process.env): LoadedProfile {
  const found = file ?? profileFile(name, env, null);
  if (found === null) throw unknownProfile(name, env);
  const profile = merged(found, env, []);
  if (profile.programs.length === 0) {
    throw asProfileError(configError(found, "`programs` must name the program, here or in the profile it extends."));
  }
  return { name, ...profile };
}

/** Returns the file of a profile that is not `self`, so that an operator's profile can extend the built-in one. */
function profileFile(name: string, env: NodeJS.ProcessEnv, self: string | null): string | null {
  if (!NAME.test(name)) return null;
  const files = [operatorFolder(env), BUILT_IN].map((folder) => join(folder, `${name}.json`));
  return files.find((each) => each !== self && existsSync(each)) ?? null;
}

function merged(file: string, env: NodeJS.ProcessEnv, seen: readonly string[]): Omit<LoadedProfile, "name"> {
  const own = readProfile(file);
  const base = own.extends === undefined ? null : baseOf(own.extends, file, env, seen);
  const list = (key: "programs" | "writable" | "readable" | "variables" | "remains") => [
    ...new Set([...(own[key] ?? []), ...(base?.[key] ?? [])]),
  ];
  return {
    title: own.title ?? base?.title ?? basename(file, ".json"),
    install: own.install ?? base?.install ?? "",
    programs: list("programs"),
    writable: list("writable"),
    protected: [...(own.protected ?? []), ...(base?.protected ?? [])],
    readable: list("readable"),
    variables: list("variables"),
    remains: list("remains"),
    copies: { ...base?.copies, ...own.copies },
    environment: { ...base?.environment, ...own.environment },
    arguments: [...(base?.arguments ?? []), ...(own.arguments ?? [])],
    defaults: [...(base?.defaults ?? []), ...(own.defaults ?? [])],
    files: { ...base?.files, ...own.files },
  };
}

function baseOf(name: string, file: string, env: NodeJS.ProcessEnv, seen: readonly string[]) {
  const found = profileFile(name, env, file);
  if (found === null || seen.includes(found)) {
    const why = found === null ? "is not a profile" : "extends this profile itself";
    throw asProfileError(configError(file, `\`extends\`: \`${name}\` ${why}.`));
  }
  return merged(found, env, [...seen, file]);
}

function readProfile(file: string): Profile {
  let document: JsonDocument;
  try {
    document = readJson(readFileSync(file, "utf8"));
  } catch (error) {
    if (isJsonSyntaxError(error)) throw asProfileError(configError(file, error.message, error.position));
    throw asProfileError(configError(file, `cannot be read (${(error as Error).message}).`));
  }
  const parsed = Profile.safeParse(document.value);
  if (!parsed.success) throw asProfileError(schemaError(file, document, parsed.error.issues, Profile));
  return parsed.data;
}

/** Replaces the next step of an error in a configuration file by one for profiles. */
function asProfileError({ message, details }: SallyportError): SallyportError {
  const step = operatorStep("fix_configuration", "Correct the profile. docs/agent-profiles.md lists every key.");
  return new SallyportError("InvalidConfiguration", message, [step], details);
}

function unknownProfile(name: string, env: NodeJS.ProcessEnv): SallyportError {
  const names = profileNames(env);
  const near = nearest(name, names);
  const hint = near ? `Did you mean \`${near}\`?` : `The profiles are ${names.join(", ")}.`;
  return new SallyportError("InvalidRequest", `There is no profile for ${JSON.stringify(name)}.`, [
    { action: "fix_request", hint },
    operatorStep("configure", "For another program, write a profile and pass it with `--profile FILE`."),
  ]);
}

/** Returns the JSON Schema of a profile. */
export function profileJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(Profile, { io: "input", target: "draft-2020-12" });
  return { $schema, title: "Profile of an agent's program", ...schema };
}
