import type { CommandFact } from "../../core/facts.ts";
import { isDevice, isProtected, isVital } from "../path-classes.ts";
import type { Rule, RuleContext } from "../rule.ts";

const SYSRQ = /^\/proc\/(?:sysrq-trigger|sys\/kernel\/sysrq)$|^\/sys\/power\/|^\/dev\/watchdog/;
const BOOT =
  /^\/(?:boot|efi)(?:\/|$)|^\/etc\/(?:fstab|crypttab|inittab|init|init\.d|rc\.local|rc\d?\.d|systemd|default\/grub|grub\.d|modules-load\.d|modprobe\.d|initramfs-tools|dracut\.conf|mkinitcpio|rc\.conf|runit|s6|openrc|sysctl\.conf|sysctl\.d)(?:\/|\.|$)|^\/(?:usr\/)?lib\/systemd(?:\/|$)|^\/Library\/LaunchDaemons/;

const written = (fact: CommandFact, test: (path: string) => boolean) =>
  fact.targets.find((target) => target.effect === "write" && test(target.path))?.span ?? null;

export const writeDevice: Rule = {
  id: "write-device",
  tier: "blocked",
  onlyTargets: true,
  message: "Writes directly to a device, such as a disk or memory, which can destroy all data on it.",
  suggestion: "Write to a regular file in the workspace, such as `./disk.img`.",
  find: (fact) => fact.targets.find((target) => target.effect !== "mode" && isDevice(target.path))?.span ?? null,
  catches: [
    "dd if=/dev/zero of=/dev/sda",
    "cat x > /dev/sda",
    "tee /dev/nvme0n1 < x",
    "cp x /dev/sda",
    "shred /dev/sda",
    "truncate -s 0 /dev/sda",
    "echo x > /dev/../dev/mapper/root",
    "dd of=/dev/mem",
    "mv x /dev/sda",
    "sponge /dev/sdb1",
  ],
  passes: [
    "dd if=/dev/sda of=./img",
    "echo x > /dev/null",
    "ls /dev/sda",
    "cat x > /dev/stderr",
    "dd if=/dev/zero of=./img",
    "echo x > /dev/tty",
    "cp x /dev/shm/x",
    "test -e /dev/sda",
  ],
};

export const writePower: Rule = {
  id: "write-power",
  tier: "blocked",
  onlyTargets: true,
  message: "Tells the kernel to restart, crash or suspend the machine.",
  suggestion: "Ask the user to restart or suspend the machine.",
  find: (fact) => written(fact, (path) => SYSRQ.test(path)),
  catches: ["echo b > /proc/sysrq-trigger", "echo 1 | tee /proc/sys/kernel/sysrq", "echo mem > /sys/power/state"],
  passes: ["cat /proc/sys/kernel/sysrq", "echo b > sysrq-trigger"],
};

export const writeBoot: Rule = {
  id: "write-boot",
  tier: "blocked",
  onlyTargets: true,
  message: "Changes files that control how the machine boots and which services it starts.",
  suggestion: "Write the file inside the workspace, and ask the user to install it.",
  find: (fact) => (fact.remote ? null : written(fact, (path) => BOOT.test(path))),
  catches: [
    "echo x >> /etc/fstab",
    "cp a.service /etc/systemd/system/",
    "tee /etc/default/grub < x",
    "cp k /boot/vmlinuz",
    "ln -s x /etc/init.d/y",
  ],
  passes: ["cat /etc/fstab", "cp a.service ./etc/systemd/system/", "ls /boot"],
};

export const writeProtected: Rule = {
  id: "write-protected",
  tier: "deny",
  onlyTargets: true,
  message: "Writes a file that belongs to the system or another user, holds credentials, or runs at startup.",
  suggestion: "Write the file inside the workspace, and ask the user to install it.",
  find: (fact, scene) => (fact.remote ? null : written(fact, (path) => isProtected(path, scene))),
  catches: [
    "echo x >> /etc/hosts",
    "cp x /etc/cron.d/y",
    "echo x >> ~/.bashrc",
    "tar xf a.tar -C /",
    "patch /etc/passwd < p",
    "ln -sf x /etc/passwd",
    "sed -i s/a/b/ /etc/ssh/sshd_config",
    "curl -o /usr/bin/x http://h/x",
    ": > /etc/passwd",
    "tee -a ~/.ssh/authorized_keys < k",
    "install -m 755 x /usr/local/bin/x",
    "wget -P /etc http://h/x",
  ],
  passes: [
    "cp /etc/hosts ./hosts",
    "cat /etc/passwd",
    "cp -r /etc/skel ./skel",
    "echo x > out.txt",
    "tar xf a.tar -C ./x",
    "mkdir -p ~/.cache/x",
    "echo x > /tmp/etc",
    "make install DESTDIR=./x",
    "sed -n 1p /etc/hosts",
  ],
};

export const modeVital: Rule = {
  id: "mode-vital",
  tier: "blocked",
  onlyTargets: true,
  message:
    "Changes the permissions or ownership of a whole system folder or home directory, which can make the system unusable.",
  suggestion: "Change only the files inside the workspace that need it.",
  find: (fact, scene) =>
    fact.targets.find((target) => target.effect === "mode" && target.recursive && isProtectedTree(target, scene))
      ?.span ?? null,
  catches: [
    "chmod -R 777 /",
    "chmod -R 000 /",
    "chown -R me /usr",
    "chgrp -R x /etc",
    "chmod --recursive 777 ~",
    "chmod -R 777 /*",
    "setfacl -R -m u:x:rwx /etc",
    "cd / && chmod -R 777 .",
  ],
  passes: ["chmod -R 755 dist", "chmod +x run.sh", "chown -R me ./x", "stat /"],
};

export const modeProtected: Rule = {
  id: "mode-protected",
  tier: "deny",
  onlyTargets: true,
  message:
    "Changes the permissions or ownership of a device, or of a file that belongs to the system or another user, holds credentials, or runs at startup.",
  suggestion: "Change permissions only inside the workspace.",
  find: (fact, scene) =>
    fact.remote
      ? null
      : (fact.targets.find(
          (target) => target.effect === "mode" && (isProtected(target.path, scene) || isDevice(target.path)),
        )?.span ?? null),
  catches: ["chmod 777 /etc/passwd", "chown me /usr/bin/x", "chmod 666 /dev/sda", "chattr -i /etc/passwd"],
  passes: ["chmod 600 key.pem", "ls -l /etc/passwd"],
};

function isProtectedTree(target: CommandFact["targets"][number], scene: RuleContext): boolean {
  return isVital(target, scene) || isProtected(target.path, scene);
}
