import { type Attempt, tool } from "./attempt.ts";

const NAMESPACES = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"];
const CALLS = [
  ["bpf", "perf_event_open", "add_key", "request_key", "keyctl", "userfaultfd", "io_uring_setup"],
  ["init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff"],
  ["acct", "quotactl", "settimeofday", "sethostname", "mount", "umount", "pivot_root", "open_tree"],
  ["move_mount", "fsopen", "mount_setattr", "chroot", "setns", "syslog", "ioperm", "iopl"],
].flat();

export const KERNEL: Attempt[] = [
  ...CALLS.map((call) => ({ name: `call ${call}`, script: tool("kernel", call) })),
  { name: "make a bind mount", script: tool("kernel", "bind") },
  { name: "use the ioctl TIOCSTI", script: tool("kernel", "tiocsti") },
  { name: "use the ioctl TIOCLINUX", script: tool("kernel", "tioclinux") },
  ...NAMESPACES.map((kind) => ({ name: `leave the ${kind} namespace`, script: tool("unshare", kind) })),
  ...["user", "pid"].map((kind) => ({ name: `start a child in a new ${kind} namespace`, script: tool("clone", kind) })),
  { name: "start a child in a new user namespace with clone3", script: tool("clone3", "user") },
  { name: "open a raw socket", script: tool("raw"), who: "root" },
  { name: "open a raw IPv6 socket", script: tool("raw6"), who: "root" },
  { name: "open a packet socket", script: tool("packet"), who: "root" },
];
