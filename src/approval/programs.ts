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

/** Programs that only read, copy or remove data. The content of their files does not change what runs. */
export const DATA_PROGRAMS = names(`
  cat tac head tail wc ls dir stat file du df grep egrep fgrep rg ag sort uniq cut tr comm join paste nl fold fmt column
  diff cmp md5sum sha1sum sha256sum sha512sum b2sum cksum sum strings od xxd hexdump cp mv rm ln touch mkdir rmdir chmod
  chown chgrp readlink realpath dirname basename tree echo printf true false test [ [[ : cd pwd date sleep shred gzip
  gunzip zcat bzip2 bunzip2 xz unxz zstd unzip base64 truncate split export kill wait exit
`);

/**
 * Returns a program name without its version: `python3.12` is `python`, `pip3` is `pip`, but `sqlite3` is unchanged.
 */
export function familyOf(name: string): string {
  // The dynamic loader runs the program in its arguments.
  if (/^ld(?:-.*)?\.so/.test(name)) return "ld.so";
  if (SHELLS.has(name) || INTERPRETERS.has(name) || RUNNERS.has(name)) return name;
  return name.replace(/\.exe$/i, "").replace(/-?[\d.]+$/, "") || name;
}
