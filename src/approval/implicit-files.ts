/** Files that programs read without being given their names: project files, configuration, hooks. */
import { dirname, join, resolve } from "node:path";
import { readText } from "./file-identity.ts";
import { expandGlob, kindOf } from "./file-references.ts";

/**
 * The files that programs read from their folder, or from the home directory (`~/`). Names may be globs. Programs
 * after `^` also read these files from the folders above.
 */
const IMPLICIT_FILES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    "make gmake bmake": "GNUmakefile makefile Makefile",
    "^npm npx pnpm pnpx yarn yarnpkg bun bunx tsx ts-node vite vitest jest webpack eslint turbo nx lerna grunt gulp node nodejs":
      "package.json .npmrc .yarnrc.yml pnpm-workspace.yaml .pnpmfile.cjs bunfig.toml vite.config.* vitest.config.* jest.config.* webpack.config.* eslint.config.* Gruntfile.js gulpfile.js ~/.npmrc",
    deno: "deno.json deno.jsonc",
    "^just": "justfile Justfile .justfile",
    "^task": "Taskfile.yml Taskfile.yaml",
    "^rake": "Rakefile rakefile",
    "^bundle gem": "Gemfile",
    "gradle gradlew": "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties",
    "mvn mvnw": "pom.xml .mvn/*",
    ant: "build.xml",
    "^cargo": "Cargo.toml build.rs .cargo/config.toml rust-toolchain.toml",
    "^go": "go.mod go.work",
    cmake: "CMakeLists.txt CMakePresets.json",
    ninja: "build.ninja",
    meson: "meson.build",
    "^tox nox invoke fab pytest poetry hatch pdm uv pip":
      "tox.ini noxfile.py tasks.py fabfile.py conftest.py pyproject.toml setup.cfg setup.py pytest.ini ~/.config/pip/pip.conf",
    "docker docker-compose podman podman-compose nerdctl buildah":
      "Dockerfile* Containerfile* .dockerignore compose*.yml compose*.yaml docker-compose*.yml docker-compose*.yaml docker-bake.* .env ~/.docker/config.json",
    "kubectl oc kustomize": "kustomization.yml kustomization.yaml ~/.kube/config",
    "helm helmfile skaffold tilt": "Chart.yaml values.yaml helmfile.yaml helmfile.d/* skaffold.yaml Tiltfile",
    "^pre-commit": ".pre-commit-config.yaml",
    husky: ".husky/*",
    act: ".github/workflows/* .actrc",
    earthly: "Earthfile",
    zig: "build.zig",
    "terraform tofu terragrunt packer": "*.tf *.tf.json *.tfvars *.tfvars.json *.hcl ~/.terraformrc",
    pulumi: "Pulumi.yaml Pulumi.*.yaml index.ts index.js __main__.py main.go",
    "ansible ansible-playbook ansible-galaxy": "ansible.cfg hosts inventory group_vars/* host_vars/* ~/.ansible.cfg",
    vagrant: "Vagrantfile",
    "^bazel bazelisk": "MODULE.bazel WORKSPACE BUILD BUILD.bazel .bazelrc",
    dotnet: "Directory.Build.props Directory.Build.targets",
    mix: "mix.exs",
    composer: "composer.json",
    php: "php.ini .user.ini",
    "python pypy ipython": "pyvenv.cfg sitecustomize.py usercustomize.py",
    direnv: ".envrc",
    gdb: ".gdbinit ~/.gdbinit",
    lldb: ".lldbinit ~/.lldbinit",
    "vi vim nvim ex view": ".exrc .vimrc .nvimrc ~/.vimrc ~/.exrc ~/.config/nvim/init.*",
    emacs: ".dir-locals.el ~/.emacs ~/.emacs.d/init.el",
    zsh: "~/.zshenv",
    fish: "~/.config/fish/config.fish",
    "csh tcsh": "~/.cshrc ~/.tcshrc",
    psql: "~/.psqlrc",
    "mysql mariadb": "~/.my.cnf",
    "sqlite3 sqlite": "~/.sqliterc",
    curl: "~/.curlrc",
    wget: "~/.wgetrc",
    "ssh scp sftp rsync mosh": "~/.ssh/config",
    "irb R Rscript": ".irbrc ~/.irbrc .Rprofile ~/.Rprofile",
    "fly flyctl wrangler vercel serverless": "fly.toml wrangler.toml vercel.json serverless.yml",
  }).flatMap(([programs, files]) => {
    const up = programs.startsWith("^");
    const names = [...(up ? ["^"] : []), ...files.split(" ")];
    return programs
      .replace("^", "")
      .split(" ")
      .map((name) => [name, names] as const);
  }),
);

/** Files that a shell reads first when it is a login shell or interactive. */
const SHELL_PROFILES = ["~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zprofile", "~/.zshrc"];

const MAX_MATCHES = 200;
const MAX_LEVELS = 32;

/** Returns the existing files that a program reads although its arguments do not name them. */
export function implicitFiles(
  family: string,
  { folders, home, args }: { folders: readonly string[]; home: string | null; args: readonly string[] },
): string[] {
  if (family === "git") return gitFiles(folders, home, args);
  const [first, ...rest] = IMPLICIT_FILES.get(family) ?? [];
  const names = first === undefined || first === "^" ? rest : [first, ...rest];
  if (/^(?:ba|z|k|da|a)?sh$/.test(family) && args.some((arg) => /^(?:-[a-z]*[li]|--login)/.test(arg))) {
    names.push(...SHELL_PROFILES);
  }
  return names.flatMap((name) => {
    if (name.startsWith("~/")) return home === null ? [] : existing(name.slice(2), home);
    return folders.flatMap((folder) => (first === "^" ? nearest(name, folder) : existing(name, folder)));
  });
}

function existing(name: string, folder: string): string[] {
  return expandGlob(name, folder, MAX_MATCHES).paths.filter((path) => kindOf(path) === "file");
}

/** Returns the files in the folder, or in the nearest folder above that has any. */
function nearest(name: string, folder: string): string[] {
  for (let at = folder, level = 0; level < MAX_LEVELS; at = dirname(at), level++) {
    const found = existing(name, at);
    if (found.length > 0 || at === "/") return found;
  }
  return [];
}

/**
 * Returns the configuration and the hooks of a Git repository. The configuration can name programs and other
 * configuration files, so every value in it that is the path of a file is included.
 */
function gitFiles(folders: readonly string[], home: string | null, args: readonly string[]): string[] {
  const found = new Set<string>();
  const named = args.flatMap((arg) => /(?:git-dir|hookspath|include\.path|template)=(.+)$/i.exec(arg)?.[1] ?? []);
  const repositories = folders.flatMap((folder) => {
    const git = gitFolder(folder);
    return git === null ? [] : [git];
  });
  const configurations = [
    ...repositories.flatMap((git) => [join(git, "config"), join(git, "config.worktree")]),
    ...(home === null ? [] : [join(home, ".gitconfig"), join(home, ".config/git/config")]),
  ].filter((path) => kindOf(path) === "file");
  const hooks = repositories.map((git) => join(git, "hooks"));
  for (const path of configurations) {
    found.add(path);
    for (const value of configuredPaths(path, folders, home)) {
      if (kindOf(value) === "folder") hooks.push(value);
      else if (kindOf(value) === "file") found.add(value);
    }
  }
  for (const path of named) hooks.push(...folders.map((folder) => resolve(folder, path)));
  for (const folder of hooks) {
    for (const path of existing("*", folder)) if (!path.endsWith(".sample")) found.add(path);
  }
  return [...found];
}

/** Returns the folder that holds the configuration and hooks of the repository that contains `folder`. */
function gitFolder(folder: string): string | null {
  if (kindOf(join(folder, "HEAD")) === "file" && kindOf(join(folder, "config")) === "file") return folder;
  for (let at = folder, level = 0; level < MAX_LEVELS; at = dirname(at), level++) {
    const git = join(at, ".git");
    const kind = kindOf(git);
    if (kind === "folder") return git;
    if (kind === "file") {
      const to = /^gitdir: (.+)$/m.exec(textOf(git))?.[1];
      if (to === undefined) return null;
      const common = textOf(resolve(at, to, "commondir")).trim();
      return resolve(at, to, common);
    }
    if (at === "/") return null;
  }
  return null;
}

const MAX_CONFIG_BYTES = 1 << 20;

function configuredPaths(file: string, folders: readonly string[], home: string | null): string[] {
  const values = [
    ...textOf(file).matchAll(/^\s*(?:hookspath|path|fsmonitor|attributesfile|template\w*)\s*=\s*"?([^"\n]+)/gim),
  ];
  return values.flatMap(([, value = ""]) => {
    const path = value.trim();
    if (path.startsWith("~/")) return home === null ? [] : [join(home, path.slice(2))];
    return [dirname(file), ...folders].map((folder) => resolve(folder, path));
  });
}

function textOf(path: string): string {
  return readText(path, MAX_CONFIG_BYTES) ?? "";
}
