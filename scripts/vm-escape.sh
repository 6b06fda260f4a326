#!/bin/bash
# Runs the sandbox escape attempts (test/system/escape) in a machine that `scripts/vm.sh boot` started.
#
#   scripts/vm-escape.sh NAME [PATTERN]
#
# Runs the attempts whose name matches the pattern, by default all, as root and as the user bob. Prints what `keeper probe`
# reports, each attempt that succeeded in the sandbox, and the number of attempts that prove something because they
# succeed without a sandbox; then how everyday commands fare, and what `sallyport doctor` says. The exit code is 1 if an
# attempt succeeded.
set -eu
cd "$(dirname "$0")/.."
name=$1 pattern=${2:-}
node=node_modules/node/bin/node
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The keeper and the tool are linked statically, so that they run on an older C library.
"$node" native/install.js
cc -std=gnu11 -O1 -static -pthread -Inative test/fixtures/programs/escape.c -o "$work/tool"
strip -o "$work/node" "$node"
printf '%s\n' "$pattern" >"$work/pattern"
packages=$("$node" -p '
  Object.entries(require("./package-lock.json").packages)
    .filter(([path, { dev, optional, devOptional, peer }]) => path && !dev && !optional && !devOptional && !peer)
    .map(([path]) => path).join("\n")')

cat >"$work/as-user.sh" <<'END'
#!/bin/bash
# The folders are outside /tmp, because commands have a private /tmp.
folder=$(mktemp -d /srv/escape-XXXXXX)
chmod 755 "$folder" && cd "$folder" || exit
export HOME=$folder/user/home LANG=C
# Without a sandbox, the attempts end in the same way each time.
export ESCAPE_CONTROLS=/srv/controls-$(id -un)
# V8 sometimes crashes under emulation, less often without threads.
for _ in 1 2 3; do
  rm -rf "$folder/user" && mkdir "$folder/user"
  /srv/sallyport/node --single-threaded /srv/sallyport/test/system/escape/runner.ts "$folder/user" \
    /srv/sallyport/tool /srv/sallyport/suid "$(cat /srv/sallyport/pattern)" >"$folder/outcomes"
  code=$?
  [ "$code" -ge 128 ] || break
done
[ "$code" = 0 ] || exit "$code"
/srv/sallyport/node -e '
  const outcomes = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const possible = outcomes.filter(({ impossible }) => impossible === null);
  const proven = possible.filter(({ notPromised }) => notPromised.length === 0);
  const escapes = proven.filter(({ escaped, changed }) => escaped || changed);
  for (const { name, said } of escapes) console.log(`  ESCAPED: ${name}: ${said}`);
  for (const warning of new Set(outcomes.flatMap(({ warnings }) => warnings))) console.log(`  warning: ${warning}`);
  console.log([
    `${require("os").userInfo().username}: level ${[...new Set(proven.map(({ level }) => level))].join(" and ")}`,
    `${proven.length} of ${outcomes.length} attempts prove something`,
    `${possible.length - proven.length} are possible here according to the level`,
    `${escapes.length} escaped`,
  ].join(", "));
  process.exitCode = escapes.length > 0 || proven.length === 0 ? 1 : 0;
' "$folder/outcomes"
code=$?
/srv/sallyport/node --single-threaded /srv/sallyport/test/system/escape/everyday.ts "$folder/user" >"$folder/everyday"
/srv/sallyport/node -e '
  const outcomes = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line));
  for (const { command, asked, exitCode, output } of outcomes) {
    if (asked) console.log(`  requires approval: ${command}`);
    if (exitCode !== 0) console.log(`  FAILED: ${command}: ${output}`);
  }
  const good = outcomes.filter(({ asked, exitCode }) => !asked && exitCode === 0);
  console.log(`${good.length} of ${outcomes.length} everyday commands ran without approval`);
' "$folder/everyday"
SALLYPORT_STATE=$folder/user/state /srv/sallyport/node --single-threaded /srv/sallyport/bin/sallyport.js doctor
exit "$code"
END

# shellcheck disable=SC2086 # Paths of packages contain no spaces.
tar c --transform 's,^\./,,' src test/fixtures test/system/escape native bin package.json $packages -C "$work" . |
  scripts/vm.sh run "$name" 'rm -rf /srv/sallyport /srv/escape-*; mkdir -p /srv/sallyport; cd /srv/sallyport
    tar x --no-same-owner && cp tool suid && chmod -R a+rX . && chmod 755 as-user.sh && chmod 4755 suid && chmod 1777 /srv'

scripts/vm.sh run "$name" 'uname -r; cat /sys/kernel/security/lsm; echo; sysctl user.max_user_namespaces'
for user in root bob; do
  verb=run
  [ "$user" = root ] || verb=user
  scripts/vm.sh "$verb" "$name" '/srv/sallyport/native/build/keeper probe; /srv/sallyport/as-user.sh' >"$work/$user" 2>&1 &
done
code=0
for job in $(jobs -p); do wait "$job" || code=1; done
cat "$work/root" "$work/bob"
exit "$code"
