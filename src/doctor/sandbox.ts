import { loadConfig } from "../config/load.ts";
import type { SandboxCapabilities } from "../core/launch.ts";
import type { UnsupportedFeature } from "../core/sandbox-level.ts";
import { sandboxCapabilities } from "../executor/native/probe.ts";
import { selectExecutor } from "../executor/select-executor.ts";
import { sandboxFor } from "../gateway/check.ts";
import { missingDenied } from "../sandbox/level.ts";
import { notEnforcedDetails } from "../sandbox/not-enforced.ts";
import { type Finding, fail, type Machine, ok, warn } from "./finding.ts";
import { adviceFor, FULL_ABI, needsNewerLandlock } from "./sandbox-advice.ts";

const SANDBOX = "sandbox";
/** Returns what the executor of this machine can enforce. Null when it cannot confine commands. */
function capabilitiesOf({ state }: Machine): SandboxCapabilities | null {
  return selectExecutor(state).kind === "native" ? sandboxCapabilities() : null;
}

/** Reports whether nothing on this machine confines commands, so that none run unless the operator allows it. */
export function confinesNothing(machine: Machine): boolean {
  const capabilities = capabilitiesOf(machine);
  return capabilities === null || (capabilities.landlock === 0 && capabilities.mounts === "none");
}

/** Reports which mechanisms of the sandbox work on this machine, and how to get the others. */
export function checkSandbox(machine: Machine): Finding {
  const capabilities = capabilitiesOf(machine);
  if (capabilities === null) {
    const message = "none: the portable executor cannot confine commands";
    return unconfined(message, "Use the native executor; the check `executor` says why it is not used.");
  }
  const { landlock, mounts, isolation, networkNamespace, seccomp, socketBroker } = capabilities;
  const mechanisms: [works: boolean, text: string][] = [
    [landlock > 0, landlock > 0 ? `Landlock ABI ${landlock}` : "Landlock"],
    [mounts !== "none", `mount namespaces${mounts === "user" ? " through user namespaces" : ""}`],
    [isolation, "PID namespaces"],
    [networkNamespace, "network namespaces"],
    [seccomp, "seccomp"],
    [socketBroker, "socket broker"],
  ];
  const works = mechanisms.flatMap(([has, text]) => (has ? [text] : []));
  const missing = mechanisms.flatMap(([has, text]) => (has ? [] : [text]));
  if (landlock > 0 && needsNewerLandlock(capabilities)) missing.push(`Landlock ABI ${FULL_ABI}`);
  const message = [...works, ...(missing.length > 0 ? [`missing: ${missing.join(", ")}`] : [])].join(", ");
  if (confinesNothing(machine)) return unconfined(message, adviceFor(machine, capabilities));
  return missing.length === 0 ? ok(SANDBOX, message) : warn(SANDBOX, message, adviceFor(machine, capabilities));
}

/** Returns the finding for a machine on which nothing confines commands: a failure, unless the operator allows it. */
function unconfined(message: string, advice: string): Finding {
  const { sandbox, require } = loadConfig({ workspace: process.cwd() }).settings;
  if (sandbox === "off" || require === false) return warn(SANDBOX, message, advice);
  const allow =
    'To run commands although nothing confines them, set `"require": false` or `"sandbox": "off"` in the operator\'s configuration (`sallyport init`).';
  return fail(SANDBOX, message, `${advice} ${allow}`);
}

const LEVEL = "sandbox level";
const PROFILES = ["workspace-write", "read-only", "isolated"] as const;
const LEVELS = ["full", "partial", "none"] as const;
const UNCONFINED = { level: "none", notEnforced: [], missing: [] } as const;
const DENIED_LATER: UnsupportedFeature = "denied-later";
const MOST_LISTED = 5;

/**
 * Reports how much of each profile is enforced for commands in this folder, with the configured paths and network mode.
 * The sandbox is planned as for a command, so that warnings of commands agree with this check.
 */
export function checkLevel({ state }: Machine): Finding {
  const workspace = process.cwd();
  const { settings } = loadConfig({ workspace });
  const { sandbox, require } = settings;
  const levels = PROFILES.map((profile) => {
    const { level, notEnforced, spec, reserved } = sandboxFor(
      settings,
      { workspace, agent: "default", state },
      { sandbox: profile },
    );
    return { profile, level, notEnforced, missing: spec === null ? [] : missingDenied(spec, reserved) };
  });
  const groups = LEVELS.flatMap((level) => {
    const names = levels.flatMap((each) => (each.level === level ? [each.profile] : []));
    return names.length === 0 ? [] : [`${level}: ${names.join(", ")}`];
  });
  const { level, notEnforced, missing } = levels.find(({ profile }) => profile === sandbox) ?? UNCONFINED;
  const gaps = level === "partial" ? `. Not enforced for ${sandbox}: ${notEnforcedDetails(notEnforced)}` : "";
  const message = `${groups.join("; ")}${gaps}`;
  if (sandbox === "off") return ok(LEVEL, `${message} (the configured profile is \`off\`)`);
  if (level === "full") return ok(LEVEL, message);
  const fix = fixFor(notEnforced, missing);
  if (require === true || (require === null && level === "none"))
    return fail(LEVEL, `${message}; commands do not run`, fix);
  return warn(LEVEL, message, `${fix} Until then, commands that cannot be analyzed require approval.`);
}

/** Returns how to get the whole sandbox in this folder: `missing` are denied paths that do not exist. */
function fixFor(notEnforced: readonly UnsupportedFeature[], missing: readonly string[]): string {
  const parts = notEnforced.some((feature) => feature !== DENIED_LATER)
    ? ["Enable what the check `sandbox` reports as missing."]
    : [];
  if (notEnforced.includes(DENIED_LATER)) {
    const more = missing.length > MOST_LISTED ? ` and ${missing.length - MOST_LISTED} more` : "";
    const paths = `${missing.slice(0, MOST_LISTED).join(", ")}${more}`;
    parts.push(
      `Run commands in a project folder, not in one that contains denied paths. Those that do not exist yet: ${paths}.`,
    );
  }
  return parts.join(" ") || "Enable what the check `sandbox` reports as missing.";
}
