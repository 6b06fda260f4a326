/**
 * The level of a sandbox: how much of what docs/sandbox.md promises is enforced for one command on this machine. Only a
 * command at the level `full` counts as confined: policy requires approval for any other that it cannot analyze.
 */
import { existsSync } from "node:fs";
import { SallyportError } from "../core/error.ts";
import type { SandboxCapabilities, SandboxSpec } from "../core/launch.ts";
import { operatorStep } from "../core/next-step.ts";
import type { SandboxEnforcement, UnsupportedFeature } from "../core/sandbox-level.ts";
import { notEnforcedText } from "./not-enforced.ts";
import { isWithin } from "./workspace.ts";

const FULL: SandboxEnforcement = { level: "full", notEnforced: [] };

/** The sandbox of a command that has none, because its profile is `off` and it uses the network as its own user. */
export const OFF: SandboxEnforcement = { level: "none", notEnforced: [] };

/** The lists of a machine that enforces everything. */
const NOTHING = { on: [], off: [], ports: [] };
export const ALL_SUPPORTED: SandboxCapabilities["unsupported"] = { shared: NOTHING, isolated: NOTHING };

/**
 * Returns what is enforced of a spec. `confines` is false for the profile `off`, with which a command can still have a
 * network mode and a user. The capabilities are null when the executor cannot sandbox commands; otherwise they contain
 * what the keeper has found by trying each feature. `reserved` paths are created before the command starts.
 */
export function enforcementOf(
  confines: boolean,
  spec: SandboxSpec,
  capabilities: SandboxCapabilities | null,
  reserved: readonly string[] = [],
): SandboxEnforcement {
  if (capabilities === null) return { level: "none", notEnforced: withoutExecutor(spec) };
  const found = machineEnforcement(spec, capabilities);
  const { level, notEnforced } = found;
  if (!confines) return { level: "none", notEnforced: notEnforced.filter((feature) => UNCONFINED.has(feature)) };
  if (level === "none" || capabilities.mounts === "none") return found;
  if (missingDenied(spec, reserved).length === 0) return found;
  return { level: "partial", notEnforced: [...notEnforced, "denied-later"] };
}

/** Returns what a machine enforces of a kind of sandbox, whatever its paths are. */
export function machineEnforcement(
  { isolated, network }: Pick<SandboxSpec, "isolated" | "network">,
  { landlock, mounts, unsupported }: SandboxCapabilities,
): SandboxEnforcement {
  const notEnforced = unsupported[isolated ? "isolated" : "shared"][typeof network === "object" ? "ports" : network];
  if (landlock === 0 && mounts === "none") return { level: "none", notEnforced };
  return notEnforced.length === 0 ? FULL : { level: "partial", notEnforced };
}

/**
 * Returns the denied paths in writable folders that do not exist, so that they cannot be masked. `reserved` paths are
 * created before the command starts.
 */
export function missingDenied(
  { denied, writable }: { denied: readonly string[]; writable: readonly string[] },
  reserved: readonly string[],
): string[] {
  const later = denied.filter((path) => writable.some((root) => isWithin(path, root)) && !existsSync(path));
  return later.filter((path) => !reserved.includes(path));
}

/** Features that a network mode needs without any other restriction. */
const UNCONFINED = new Set<UnsupportedFeature>(["ports", "seccomp"]);

function withoutExecutor({ network, user }: SandboxSpec): UnsupportedFeature[] {
  return [...(network === "on" ? [] : ["network" as const]), ...(user === null ? [] : ["user" as const])];
}

/** The sandbox of a request, as far as `assertEnforced` needs it. */
export interface RequiredSandbox extends SandboxEnforcement {
  /** Whether the profile is not `off`. */
  confines: boolean;
}

/**
 * Throws SandboxUnavailable if the command must not run with what this machine enforces. With `require` true, anything
 * that is missing is a reason; if it is not set, only that nothing confines the command; with false, nothing is.
 */
export function assertEnforced({ confines, level, notEnforced }: RequiredSandbox, require: boolean | null): void {
  if (require === false) return;
  const unconfined = level === "none" && (confines || notEnforced.some((feature) => !UNCONFINED.has(feature)));
  if (unconfined) throw nothingConfines(confines, notEnforced);
  if (require === true && notEnforced.length > 0) throw incomplete(notEnforced);
}

const CHECK_MACHINE = operatorStep(
  "check_sandbox",
  "Run `sallyport doctor` to see what is missing and how to enable it.",
);

function nothingConfines(confines: boolean, notEnforced: readonly UnsupportedFeature[]): SallyportError {
  const what = confines
    ? "confine commands"
    : notEnforced.map((feature) => UNAVAILABLE[feature] ?? feature).join(" or ");
  return new SallyportError(
    "SandboxUnavailable",
    `This machine cannot ${what}, so no command is run. To run commands anyway, the operator can set \`"sandbox": "off"\` or \`"require": false\` in the operator's configuration.`,
    [
      CHECK_MACHINE,
      operatorStep(
        "ask_operator",
        'With `"sandbox": "off"` or `"require": false`, commands have all rights of the user, and every command that cannot be analyzed requires approval.',
      ),
    ],
  );
}

const UNAVAILABLE: Partial<Record<UnsupportedFeature, string>> = {
  network: "restrict the network of commands",
  user: "run commands as another user",
};

function incomplete(notEnforced: readonly UnsupportedFeature[]): SallyportError {
  return new SallyportError(
    "SandboxUnavailable",
    `This machine does not enforce the whole sandbox, and the configuration requires it (\`require\`). Not enforced: ${notEnforcedText(notEnforced)}.`,
    [
      CHECK_MACHINE,
      { action: "ask_operator", hint: "The operator can remove `require` from the configuration that sets it." },
    ],
  );
}
