#!/bin/bash
# Runs the sandbox escape attempts (test/system/escape) in a machine that `scripts/vm.sh boot` started.
#
#   scripts/vm-escape.sh NAME [PATTERN]
#
# Runs the attempts whose name matches the pattern, by default all, as root and as the user bob. Prints what `keeper probe`
# reports, each attempt that succeeded in the sandbox, and the number of attempts that prove something because they
# succeed without a sandbox. The exit code is 1 if an attempt succeeded. An emulated machine needs about 5 seconds for
# each attempt.
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
chmod 755 "$folder" && mkdir "$folder/user" && cd "$folder/user" || exit
export HOME=$folder/user/home LANG=C
# V8's threads are unreliable under emulation.
/srv/sallyport/node --single-threaded /srv/sallyport/test/system/escape/runner.ts "$folder/user" \
  /srv/sallyport/tool /srv/sallyport/suid "$(cat /srv/sallyport/pattern)" >"$folder/outcomes" || exit
/srv/sallyport/node -e '
  const outcomes = require("fs").readFileSync(process.argv[1], "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const proven = outcomes.filter(({ impossible }) => impossible === null);
  const escapes = proven.filter(({ escaped, changed }) => escaped || changed);
  for (const { name, said } of escapes) console.log(`  ESCAPED: ${name}: ${said}`);
  for (const warning of new Set(outcomes.flatMap(({ warnings }) => warnings))) console.log(`  warning: ${warning}`);
  console.log(`${require("os").userInfo().username}: ${proven.length} of ${outcomes.length} attempts prove something, ${escapes.length} escaped`);
  process.exitCode = escapes.length > 0 || proven.length === 0 ? 1 : 0;
' "$folder/outcomes"
END

# shellcheck disable=SC2086 # Paths of packages contain no spaces.
tar c --transform 's,^\./,,' src test/fixtures test/system/escape native package.json $packages -C "$work" . |
  scripts/vm.sh run "$name" 'rm -rf /srv/sallyport /srv/escape-*; mkdir -p /srv/sallyport; cd /srv/sallyport
    tar x --no-same-owner && cp tool suid && chmod -R a+rX . && chmod 755 as-user.sh && chmod 4755 suid && chmod 1777 /srv'

scripts/vm.sh run "$name" 'uname -r; cat /sys/kernel/security/lsm; echo; sysctl user.max_user_namespaces'
code=0
for user in root bob; do
  verb=run
  [ "$user" = root ] || verb=user
  scripts/vm.sh "$verb" "$name" '/srv/sallyport/native/build/keeper probe; /srv/sallyport/as-user.sh' || code=1
done
exit "$code"
