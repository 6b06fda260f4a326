import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../../bin/sallyport.js", import.meta.url));
const root = process.getuid?.() === 0;

/** Runs the arguments in a root directory that has the folders of this machine except /tmp and /var. */
const MINIMAL = `
for folder in /*; do
  case $folder in /tmp | /var | /mnt | /lost+found) continue ;; esac
  if [ -L "$folder" ]; then cp -P "$folder" "$0/"; continue; fi
  [ -d "$folder" ] && mkdir "$0$folder" && mount --rbind "$folder" "$0$folder"
done
mkdir "$0/var" && mount -t tmpfs none "$0/var" && mkdir -m 700 "$0/var/home"
exec chroot "$0" /bin/sh -c 'cd /var/home && "$@"' sh "$@"`;

test("says how to run commands on a machine without a folder for temporary files", {
  skip: root ? false : "requires root to change the root directory",
}, (t) => {
  const folder = mkdtempSync(join("/var/tmp", "sallyport-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const run = (...args: string[]) =>
    spawnSync("unshare", ["-m", "sh", "-c", MINIMAL, folder, process.execPath, PROGRAM, ...args], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: "/var/home" },
    });
  const { status, stderr } = run("run", "--", "true");
  assert.equal(status, 125, stderr);
  assert.match(
    stderr,
    /^sallyport: There is no folder for temporary files: \/tmp does not exist\.\n.*mkdir -m 1777 \/tmp/,
  );
});
