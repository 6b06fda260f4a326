import assert from "node:assert/strict";
import { test } from "node:test";
import { MountTable } from "../../../src/sandbox/paths/mounts.ts";

/** Returns a mount table. Each line has a device, a root, a mount point, and optionally a parent, type and options. */
function table(...lines: string[]): MountTable {
  const text = lines.map((line, index) => {
    const [device, root, point, parent = index === 0 ? "1" : "10", type = "ext4", options = "rw"] = line.split("  ");
    return `${10 + index} ${parent} ${device} ${root} ${point} rw shared:1 - ${type} /dev/sda ${options}`;
  });
  return new MountTable(`${text.join("\n")}\n`);
}

test("has no further paths without second mounts", () => {
  const mounts = table("8:1  /  /", "8:2  /  /home", "8:1  /@var  /var", "8:1  /@srv  /srv", "0:5  /  /run");
  assert.deepEqual(mounts.withAliases(["/var/a"]), ["/var/a", "/@var/a"]);
  const plain = table("8:1  /@  /", "8:1  /@var  /var", "8:1  /@srv  /srv", "0:5  /  /run");
  assert.deepEqual(plain.aliases(["/home/u/.ssh", "/var", "/srv/x"], { within: true }), []);
});

test("finds btrfs subvolumes below a mount of the whole file system", () => {
  const mounts = table("0:30  /@  /", "0:30  /@home  /home", "0:30  /  /mnt/top");
  assert.deepEqual(mounts.aliases(["/home/u/.ssh", "/etc/shadow"]).sort(), [
    "/mnt/top/@/etc/shadow",
    "/mnt/top/@home/u/.ssh",
  ]);
});

test("decodes escaped names, and ignores the roots of namespaces and deleted folders", () => {
  const mounts = table(
    "8:1  /  /",
    "8:1  /a\\040b\\134c  /mnt/x\\011y",
    "0:4  net:[4026531840]  /run/netns/n",
    "8:1  /home//deleted  /mnt/old",
  );
  assert.deepEqual(mounts.aliases(["/a b\\c/key", "/home/u"]), ["/mnt/x\ty/key"]);
});

test("does not follow views that another mount hides", () => {
  const mounts = table(
    "8:1  /  /",
    "8:1  /home  /mnt/h",
    "0:9  /  /mnt/h  11",
    "8:1  /home  /srv/h",
    "0:8  /  /srv/h/u  13",
  );
  assert.deepEqual(mounts.aliases(["/home/u/.ssh"]), []);
  assert.deepEqual(mounts.aliases(["/home/v/.ssh"]), ["/srv/h/v/.ssh"]);
});

test("finds further paths in a chroot environment, where the root is not listed", () => {
  const mounts = table("8:1  /home  /home  3", "8:1  /home  /mnt/h  3");
  assert.deepEqual(mounts.aliases(["/home/u/.ssh"]), ["/mnt/h/u/.ssh"]);
});

test("finds the source of a FUSE file system that shows another folder", () => {
  const mounts = new MountTable(
    "10 1 8:1 / / rw - ext4 /dev/sda rw\n11 10 0:40 / /mnt/b rw - fuse.bindfs /home\\040s rw\n12 10 8:1 /home\\040s/u /u rw - ext4 /dev/sda rw\n",
  );
  assert.deepEqual(mounts.aliases(["/home s/u/.ssh"]).sort(), ["/mnt/b/u/.ssh", "/u/.ssh"]);
  assert.deepEqual(mounts.aliases(["/mnt/b/u/.ssh"]).sort(), ["/home s/u/.ssh", "/u/.ssh"]);
});

test("denies the folders above if there are too many further paths", () => {
  const secrets = Array.from({ length: 500 }, (_, index) => `/home/u/.secret-${index}`);
  const some = table("8:1  /  /", ...Array.from({ length: 20 }, (_, index) => `8:1  /  /mnt/${index}`));
  assert.deepEqual(
    some.aliases(secrets).sort(),
    Array.from({ length: 20 }, (_, index) => `/mnt/${index}/home/u`).sort(),
  );
  const many = table("8:1  /  /", ...Array.from({ length: 2000 }, (_, index) => `8:1  /  /mnt/${index}`));
  assert.throws(() => many.aliases(secrets), { type: "SandboxUnavailable" });
});

test("is not slowed down by thousands of mounts that show nothing twice", () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `8:1  /var/lib/pods/${index}/v  /run/pods/${index}`);
  const mounts = table("8:1  /  /", ...lines);
  assert.deepEqual(mounts.aliases(["/home/u/.ssh", "/etc/shadow"], { within: true }), []);
  assert.deepEqual(mounts.aliases(["/var/lib/pods/7/v/key"]), ["/run/pods/7/key"]);
});
