import { constants } from "node:os";
import type { Recovery } from "../../core/error.ts";
import { shownName } from "../../text/shell-word.ts";
import type { LaunchFailure } from "./launch.ts";

const { errno: E } = constants;

const RETRY: Recovery = { action: "retry", hint: "Retry the operation." };
const CHECK_PERMISSIONS: Recovery = {
  action: "check_permissions",
  hint: "Verify that the command is executable and that its folders may be entered.",
};

const SANDBOX_TIER: Recovery = {
  action: "check_sandbox",
  hint: "See what this machine can do and how to reach more: sallyport doctor",
};
const LESS_STRICT: Recovery = {
  action: "ask_operator",
  hint: "The operator can choose a profile this machine can do, or take `require` out of the configuration.",
};

const BY_STEP: Record<string, string> = {
  claim: "its session folder could not be made",
  folder: "its session folder could not be opened",
  record: "there was no room for its exit record",
  control: "its control socket could not be made",
  log: "its log file could not be opened",
  pipe: "no pipe could be made for its output",
  stdin: "its input could not be prepared",
  fork: "no process could be forked",
  "limit-core": "its limit for core dumps could not be set",
  "limit-files": "its limit for open files could not be set",
  "limit-file-size": "its limit for file sizes could not be set",
  "limit-processes": "its limit for processes could not be set",
  "limit-data": "its limit for memory could not be set",
  cgroup: "it could not join the group that counts what it uses",
  "sandbox-landlock": "its file access could not be restricted",
  "sandbox-seccomp": "its system calls could not be restricted",
  "sandbox-capabilities": "its capabilities could not be dropped",
  "sandbox-privileges": "new privileges could not be ruled out for it",
  "sandbox-mount": "its private view of the files could not be made",
  "sandbox-namespace": "its namespaces could not be made",
  "sandbox-user": "it could not be made to run as the user that is configured",
  "sandbox-memory": "there was no memory for its sandbox",
  "sandbox-require": "this machine cannot confine it as strictly as is required",
  keeper: "nobody took it up before its gateway or its keeper was gone",
};

/** A step of the start failed that has little to do with the command itself. */
export function spawnFailed(program: string, step: string, errno: number): LaunchFailure {
  const what = BY_STEP[step] ?? `the step "${step}" failed`;
  const why = errno ? ` (${errorName(errno)})` : "";
  return {
    type: "SpawnFailed",
    message: `${shownName(program)} could not be started: ${what}${why}.`,
    recovery: recoveryFor(errno, step),
  };
}

function recoveryFor(errno: number, step: string): Recovery[] {
  if (errno === E.ENOSPC || errno === E.EDQUOT) {
    return [{ action: "free_space", hint: "Free some disk space; `sallyport clean` removes old sessions." }];
  }
  if (errno === E.EAGAIN) {
    return [
      { action: "increase_limits", hint: "The system is out of processes: end some, or raise ulimit -u." },
      RETRY,
    ];
  }
  if (errno === E.EMFILE || errno === E.ENFILE) {
    return [
      { action: "increase_limits", hint: "Out of descriptors: raise ulimit -n, then restart the keeper." },
      RETRY,
    ];
  }
  if (step.startsWith("sandbox-")) return [SANDBOX_TIER, LESS_STRICT];
  if (step === "log") {
    return [{ action: "check_path", hint: "`logFile` must name a regular file in an existing, writable folder." }];
  }
  if (errno === E.ETXTBSY) {
    return [{ action: "retry", hint: "The program is being written: wait until that is done, then retry." }];
  }
  return step === "keeper" ? [RETRY] : [CHECK_PERMISSIONS, RETRY];
}

function errorName(number: number): string {
  return Object.entries(E).find(([, value]) => value === number)?.[0] ?? `errno ${number}`;
}
