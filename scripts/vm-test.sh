#!/bin/bash
# Tests the packed package in a virtual machine, as root, as an ordinary user and in a container: escapes from the
# sandbox, limits, kills, crashes and services. Prints a table for docs/platforms.md.
#
#   npm run vm -- [debian12|debian13] [OPTIONS] [KERNEL-ARG...]
#
#   --only escape,checks,container    run some parts (default: all)
#   --pattern PATTERN                 only the escape attempts whose name matches
#   --keep                            leave the machine running
#
# KERNEL-ARG is appended to the kernel's command line, for example lsm=lockdown,yama,apparmor. Needs `npm run build`, and
# what scripts/vm.sh needs. The machine is created once, in $LAB (default: .vm). Without KVM a run takes about an hour.
set -eu
cd "$(dirname "$0")/.."
name=debian13 parts=escape,checks,container pattern='' keep=
case ${1:-} in debian12 | debian13) name=$1; shift ;; esac
while [ $# -gt 0 ]; do
  case $1 in
  --only) parts=$2; shift 2 ;;
  --pattern) pattern=$2; shift 2 ;;
  --keep) keep=yes; shift ;;
  -*) sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  *) break ;;
  esac
done
declare -A suites=([debian12]=bookworm [debian13]=trixie)
export LAB=${LAB:-$PWD/.vm}
results=$(mktemp -d)
finish() {
  [ -n "$keep" ] || scripts/vm.sh poweroff "$name"
  rm -rf "$results"
}

[ -e "$LAB/$name.img" ] || EXTRA=podman,crun${EXTRA:+,$EXTRA} scripts/vm.sh build "$name" "${suites[$name]}"
scripts/vm.sh run "$name" true 2>/dev/null || scripts/vm.sh boot "$name" mitigations=off "$@"
trap finish EXIT
scripts/vm-install.sh "$name"
scripts/vm.sh put "$name" scripts/vm-checks.sh /usr/local/bin/vm-checks
kernel=$(scripts/vm.sh run "$name" uname -r)
code=0

has() { [[ ,$parts, == *,$1,* ]]; }

if has checks; then
  all='sandbox memory processes cpu timeout kill gateway_crash keeper_crash service'
  # The manager of an ordinary user, and its services, run without a login.
  scripts/vm.sh run "$name" 'loginctl enable-linger bob'
  scripts/vm.sh run "$name" "vm-checks '$name' $all" >"$results/checks-root" || code=1
  scripts/vm.sh user "$name" "vm-checks '$name' $all" >"$results/checks-user" || code=1
fi
if has container; then
  # The root directory of the machine is the image; changes are discarded.
  podman='podman run --rm --network=none --rootfs /:O'
  scripts/vm.sh run "$name" "$podman vm-checks '$name, Podman'" >"$results/checks-container" || code=1
fi
if has escape; then
  scripts/vm-escape.sh "$name" "$pattern" >"$results/escape" || code=1
  sed 's/^/escape: /' "$results/escape"
fi

echo "$name, Linux $kernel, $(date -u +%F)"
echo
echo '| platform | user | check | outcome | how |'
echo '| --- | --- | --- | --- | --- |'
cat "$results"/checks-* 2>/dev/null | sed 's/|/\\|/g; s/\t/ | /g; s/^/| /; s/$/ |/'
grep -E '^(root|bob): level' "$results/escape" 2>/dev/null | sed "s/^\([a-z]*\): \(.*\)/| $name | \1 | escape attempts | | \2 |/" || true
exit "$code"
