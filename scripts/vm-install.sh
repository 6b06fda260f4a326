#!/bin/bash
# Installs the packed package and Node in a machine that `scripts/vm.sh boot` started, as `npm install -g` would.
#
#   scripts/vm-install.sh NAME
#
# Packs this checkout, whose dist/ `npm run build` must have written. The machine needs no network: the packages that
# Sallyport depends on are copied from node_modules/.
set -eu
cd "$(dirname "$0")/.."
name=$1
node=node_modules/node/bin/node
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$node" native/install.js --prebuilt
npm pack --ignore-scripts --silent --pack-destination "$work" >/dev/null
packages=$("$node" -p '
  Object.entries(require("./package-lock.json").packages)
    .filter(([path, { dev, optional, devOptional, peer }]) => path && !dev && !optional && !devOptional && !peer)
    .map(([path]) => path).join("\n")')
root=$work/root
mkdir -p "$root/bin" "$root/lib/node_modules/sallyport"
tar xzf "$work"/sallyport-*.tgz --strip-components=1 -C "$root/lib/node_modules/sallyport"
# shellcheck disable=SC2086 # Paths of packages contain no spaces.
tar c $packages | tar x -C "$root/lib/node_modules/sallyport"
strip -o "$root/bin/node" "$node"
chmod 755 "$root/bin/node"
for program in sallyport sallyport-sh; do
  ln -s "../lib/node_modules/sallyport/bin/$program.cjs" "$root/bin/$program"
done

tar c -C "$root" --owner=0 --group=0 . |
  scripts/vm.sh run "$name" 'rm -rf /usr/local/lib/node_modules/sallyport && tar x -C /usr/local &&
    chmod -R a+rX /usr/local && cd /usr/local/lib/node_modules/sallyport && node native/install.js && sallyport --version'
