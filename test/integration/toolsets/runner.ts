import type { Bench } from "./conformance.ts";

export const intent = "checking a statement";
export const run = (bench: Bench, command: string, more: object = {}) =>
  bench.call("run", { command, intent, ...more });
export const shell = (bench: Bench, command: string, more: object = {}) =>
  run(bench, command, { shell: true, ...more });

/** The commands that must never run, as written in the contract. */
export const NEVER = [
  "rm -rf /",
  "rm -rf /*",
  "mkfs.ext4 /dev/sdb1",
  "dd if=/dev/zero of=/dev/sda",
  "echo x > /dev/sda",
  "chmod -R 777 /",
  ":(){ :|:& };:",
  "shutdown now",
  "reboot",
  "init 0",
  "init 6",
  "systemctl disable firewalld",
  "iptables -F",
];
