/**
 * Finds files that the text writes and that a later command runs without naming them: a makefile, the scripts of a
 * package, a git hook, or a module of an interpreter.
 */
import { escapedCommands } from "../commands/stdin-code.ts";
import type { StreamContent } from "../expand/field.ts";
import { literal } from "../expand/field.ts";
import { basename, versionless } from "../path.ts";
import { type Call, markCommandUnknown, type Runner } from "./call.ts";
import { isRemote, readContent } from "./streams.ts";

interface ProjectFiles {
  programs: RegExp;
  /** Matches the path of a file that these programs run. */
  files: RegExp;
  /** Returns the shell text in such a file. Other files contain code in another language. */
  shell?(text: string, call: Call): string;
}

const PROJECT_FILES: readonly ProjectFiles[] = [
  { programs: /^[gb]?make$/, files: /\/(?:GNUm|M|m)akefile$|\.mk$/, shell: recipes },
  { programs: /^just$/, files: /\/\.?justfile$/i, shell: recipes },
  { programs: /^(?:task|go-task)$/, files: /\/Taskfile\.ya?ml$/i },
  { programs: /^(?:npm|npx|pnpm|pnpx|yarn|bun|bunx)$/, files: /\/package\.json$/, shell: packageScripts },
  { programs: /^git$/, files: /\/(?:hooks|\.husky|\.githooks)\/[\w-]+$/, shell: (text) => text },
  { programs: /^direnv$/, files: /\/\.envrc$/, shell: (text) => text },
  { programs: /^git$/, files: /\/\.git\/config$|\/\.gitattributes$|\/\.gitconfig$/ },
  { programs: /^(?:npm|npx|pnpm|yarn|bun)$/, files: /\/\.(?:npmrc|yarnrc|yarnrc\.yml|pnpmfile\.cjs)$/ },
  { programs: /^(?:node|nodejs|deno|tsx|ts-node|bun|npx|npm|yarn|pnpm|jest|vitest|mocha)$/, files: /\.[cm]?[jt]sx?$/ },
  {
    programs: /^(?:python|pypy|ipython|pytest|tox|nox|pip|uv|poetry|flask|django-admin|gunicorn|uvicorn|invoke|fab)$/,
    files: /\.(?:py|pth)$|\/(?:pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini)$/,
  },
  { programs: /^(?:ruby|rake|bundle|rspec|rails|irb|thor)$/, files: /\.(?:rb|gemspec)$|\/(?:Rakefile|Gemfile)$/ },
  { programs: /^(?:perl|prove)$/, files: /\.(?:pl|pm|t)$/ },
  { programs: /^(?:php|composer|phpunit|artisan)$/, files: /\.php$|\/composer\.json$/ },
  { programs: /^(?:lua|luajit)$/, files: /\.lua$/ },
  { programs: /^cargo$/, files: /\.rs$|\/(?:Cargo|config)\.toml$/ },
  { programs: /^go$/, files: /\.go$|\/go\.mod$/ },
  { programs: /^(?:cmake|ctest)$/, files: /\/CMakeLists\.txt$|\.cmake$/ },
  { programs: /^ninja$/, files: /\/build\.ninja$/ },
  { programs: /^(?:gradlew?|mvnw?|ant|sbt)$/, files: /\.gradle(?:\.kts)?$|\/(?:pom\.xml|build\.xml|build\.sbt)$/ },
  { programs: /^(?:terraform|tofu)$/, files: /\.tf$/ },
  { programs: /^ansible-playbook$/, files: /\.ya?ml$/ },
  { programs: /^(?:docker|docker-compose|podman)$/, files: /\/(?:docker-)?compose[\w.-]*\.ya?ml$/ },
  { programs: /^(?:pre-commit|lefthook|husky)$/, files: /\/(?:\.pre-commit-config|lefthook)\.ya?ml$/ },
];

export function runsProjectFiles(call: Call, run: Runner): void {
  const { written } = call.walk.state;
  if (written.size === 0 || call.origin.remote) return;
  const name = versionless(call.name);
  const specs = PROJECT_FILES.filter(({ programs }) => programs.test(name));
  if (specs.length === 0) return;
  for (const [path, content] of written) {
    for (const { files, shell } of specs) {
      if (!files.test(path) || isOutput(call, path)) continue;
      const why = `this command may run \`${basename(path)}\`, which is written by the same command line`;
      markCommandUnknown(call, call.fact.span, why, isRemote(content) ? { piped: true } : {});
      if (shell) shellText(call, run, content, shell);
      else escapedCommands(call, run, content);
    }
  }
}

/** Reports whether the command itself writes the file, as a compiler does. */
function isOutput(call: Call, path: string): boolean {
  return call.fact.targets.some((target) => target.effect === "write" && target.path === path);
}

function shellText(call: Call, run: Runner, content: StreamContent, shell: NonNullable<ProjectFiles["shell"]>): void {
  const feed = readContent(call.walk, content);
  if (feed.kind !== "text") return;
  const text = shell(feed.text, call);
  const uncertain = { span: call.fact.span, why: "it is part of a file that the text writes" };
  if (text.trim() !== "") run.text(call, { ...literal(text, "", call.fact.span), uncertain });
}

/** Returns the indented lines of a makefile, and the commands in `$(shell …)`. Other variables of make are unknown. */
export function recipes(text: string): string {
  const lines = [...text.matchAll(/^[\t ]+[@+-]*(.*)$|^[^#\n]*?:[^=\n]*;(.*)$/gm)].map(
    ([, line, after]) => line ?? after,
  );
  const calls = [...text.matchAll(/\$\(shell ([^)]*)\)/g)].map(([, command]) => command);
  return [...lines, ...calls]
    .join("\n")
    .replace(/\$\([\w@<^]+\)|\$\{\w+\}|\$[@<^*]/g, "_")
    .replaceAll("$$", "$");
}

/** Returns the scripts of a package that this command runs. */
function packageScripts(text: string, call: Call): string {
  const words = call.argv.slice(1).flatMap(({ value }) => (value === null || value.startsWith("-") ? [] : [value]));
  const [sub = "install", script = ""] = words;
  const name = /^(?:run|run-script|rum|urn)$/.test(sub) ? script : sub === "t" ? "test" : sub;
  const installs = /^(?:i|install|ci|add|update|rebuild|publish|pack|link)$/.test(sub);
  const wanted = installs
    ? "preinstall install postinstall preprepare prepare postprepare prepublish prepack"
    : `pre${name} ${name} post${name}`;
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return wanted
      .split(" ")
      .map((key) => scripts?.[key])
      .filter((value) => typeof value === "string")
      .join("\n");
  } catch {
    return "";
  }
}
