/** Programs classified by what their arguments can make them do. Names have no version: `python3.12` is `python`. */

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter(Boolean));
}

export const SHELLS = names("sh bash dash zsh fish ksh mksh ash csh tcsh rbash busybox toybox pwsh elvish nu xonsh");

/** Programs that run code from a file, an option or stdin. */
export const INTERPRETERS = names(`
  python pypy ipython node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh wish expect guile racket sbcl
  clisp emacs vim nvim vi ex view ed ghc runghc runhaskell ocaml elixir iex erl escript julia R Rscript octave groovy scala
  kotlin jshell java swift osascript awk gawk mawk nawk sed gsed m4 gdb lldb psql mysql mariadb sqlite3 sqlite mongosh
  redis-cli bc dc jq yq xonsh crystal nim dart ansible-playbook ansible terraform tofu pulumi packer vagrant puppet
`);

/** Programs that can run other programs named in their arguments. */
export const WRAPPERS = names(`
  env nice nohup timeout setsid stdbuf xargs parallel watch strace ltrace time ionice chrt taskset numactl unshare nsenter
  script flock faketime setpriv capsh firejail bwrap systemd-run systemd-nspawn at batch crontab ssh mosh tmux screen
  dtach entr find fd fdfind dbus-run-session dbus-launch xvfb-run proot fakeroot eatmydata unbuffer rlwrap setarch linux64
  cgexec prlimit catchsegv valgrind perf rr hyperfine direnv nix nix-shell guix start-stop-daemon runcon ld.so
  run-parts logrotate socat nc ncat netcat ip xdg-open open emacsclient gdbserver code nano tex latex pdflatex xelatex
  lualatex gs tcpdump nmap inetd xinetd cron anacron udevadm insmod modprobe
  docker podman nerdctl kubectl oc lxc-attach lxc incus machinectl vagrant pkexec man less more most git-shell tee
`);

export const PRIVILEGED = names("sudo su doas pkexec runuser run0 chroot sg newgrp gosu su-exec sudoedit");

/**
 * Programs that run code from project files, each with the subcommands that do not. `yarn` and `composer` have none
 * because a project file can define code for every subcommand, `cargo` because of rust-toolchain.toml, `bundle` because
 * a Gemfile is Ruby code.
 */
export const RUNNERS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    npm: "ls list view info outdated ping whoami root prefix search explain why --version -v help",
    go: "version list doc",
    pip: "list show freeze check --version",
    gem: "list --version",
    rustup: "show --version",
    ...Object.fromEntries(
      `dpkg rpm cpan luarocks opam cargo yarn pnpm bundle composer poetry uv npx pnpx yarnpkg bunx uvx pipx pipenv hatch pdm conda mamba make gmake bmake ninja samu just task rake gradle gradlew
       mvn mvnw ant sbt bazel bazelisk buck buck2 meson cmake ctest tox nox invoke fab pytest jest vitest mocha tsc eslint
       prettier webpack vite rollup esbuild turbo nx lerna mage dotnet msbuild mix rebar3 lein stack cabal dune zig pre-commit
       husky act earthly tilt skaffold helm setup.py configure autoreconf grunt gulp`
        .trim()
        .split(/\s+/)
        .map((name) => [name, ""]),
    ),
  }).map(([name, safe]) => [name, names(safe)]),
);

/** The project files that a runner reads from its folder. */
export const PROJECT_FILES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    "make gmake bmake": "GNUmakefile makefile Makefile",
    "npm npx pnpm pnpx yarn yarnpkg bun bunx tsx ts-node vite vitest jest webpack eslint turbo nx lerna grunt gulp node nodejs":
      "package.json .npmrc .yarnrc.yml vite.config.js vite.config.ts vitest.config.ts jest.config.js webpack.config.js eslint.config.js Gruntfile.js gulpfile.js",
    just: "justfile Justfile .justfile",
    task: "Taskfile.yml Taskfile.yaml",
    rake: "Rakefile rakefile",
    "bundle gem": "Gemfile",
    "gradle gradlew": "build.gradle build.gradle.kts settings.gradle settings.gradle.kts",
    "mvn mvnw": "pom.xml",
    ant: "build.xml",
    cargo: "Cargo.toml build.rs .cargo/config.toml rust-toolchain.toml",
    go: "go.mod",
    cmake: "CMakeLists.txt CMakePresets.json",
    ninja: "build.ninja",
    meson: "meson.build",
    "tox nox invoke fab pytest poetry hatch pdm uv pip":
      "tox.ini noxfile.py tasks.py fabfile.py conftest.py pyproject.toml setup.cfg setup.py",
    "docker podman": "Dockerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml",
    "pre-commit": ".pre-commit-config.yaml",
    zig: "build.zig",
    "terraform tofu": "main.tf",
    vagrant: "Vagrantfile",
    bazel: "MODULE.bazel WORKSPACE BUILD BUILD.bazel .bazelrc",
    dotnet: "Directory.Build.props Directory.Build.targets",
    mix: "mix.exs",
    composer: "composer.json",
  }).flatMap(([programs, files]) =>
    programs.split(" ").map((name) => [name, files.split(" ").filter(Boolean)] as const),
  ),
);

/**
 * Returns a program name without its version: `python3.12` is `python`, `pip3` is `pip`, but `sqlite3` is unchanged.
 */
export function familyOf(name: string): string {
  // The dynamic loader runs the program in its arguments.
  if (/^ld(?:-.*)?\.so/.test(name)) return "ld.so";
  if (SHELLS.has(name) || INTERPRETERS.has(name) || RUNNERS.has(name)) return name;
  return name.replace(/\.exe$/i, "").replace(/-?[\d.]+$/, "") || name;
}
