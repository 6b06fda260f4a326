import { type LimitSupport, limitSupport } from "../executor/native/limits.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { type Finding, type Machine, ok, warn } from "./finding.ts";
import { isContainer } from "./sandbox-advice.ts";

const NAME = "limits";

/** Reports how the memory, process and CPU limits of a command are enforced on this machine. */
export function checkLimits(machine: Machine): Finding {
  if (selectExecutor(machine.state).kind !== "native") {
    return warn(NAME, "not enforced: the portable executor has no limits", "Use the native executor.");
  }
  const support = limitSupport();
  if (support === null) return warn(NAME, "unknown: the keeper does not start", "See the check `keeper`.");
  return limitsFinding(support, machine);
}

/** Returns the finding for what a keeper supports. */
export function limitsFinding(support: LimitSupport, machine: Machine): Finding {
  const { memory, processes, cpu } = support;
  const polled = [...(memory ? [] : ["memory"]), ...(processes ? [] : ["processes"])];
  const exact = [...(memory ? ["memory"] : []), ...(processes ? ["processes"] : []), ...(cpu ? ["CPU"] : [])];
  const parts = [
    ...(exact.length > 0 ? [`enforced by the kernel (${mechanism(support)}): ${exact.join(", ")}`] : []),
    ...(polled.length > 0 ? [`enforced by polling: ${polled.join(", ")}`] : []),
    ...(cpu ? [] : ["not enforced: CPU"]),
  ];
  const message = parts.join("; ");
  return polled.length === 0 && cpu ? ok(NAME, message) : warn(NAME, message, adviceFor(support, machine));
}

function mechanism({ version, scope }: LimitSupport): string {
  return scope ? "cgroup v2, in scopes of your systemd user manager" : `cgroup v${version}`;
}

function adviceFor({ version, memory, processes, scope }: LimitSupport, machine: Machine): string {
  if (isContainer(machine)) {
    return "Start the container so that its user can write to /sys/fs/cgroup (docs/guides/run-in-containers.md).";
  }
  if (version === 0)
    return "Use a kernel with the memory, cpu and pids cgroup controllers, and mount them at /sys/fs/cgroup.";
  if (version === 1) {
    return "In each controller below /sys/fs/cgroup, create a cgroup, `chown` it to your user, and start Sallyport in it.";
  }
  if (memory || processes || scope) {
    return "Have systemd delegate all controllers: `Delegate=yes` in the unit, or for a login `systemctl edit user@.service` with `Delegate=cpu memory pids`; then log in again.";
  }
  return "Start your systemd user manager by logging in (for example over SSH) or with `loginctl enable-linger`, or run Sallyport in a unit with `Delegate=yes`.";
}
