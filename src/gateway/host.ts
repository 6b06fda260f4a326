import { SallyportError } from "../core/error.ts";
import { operatorStep } from "../core/next-step.ts";
import type { GatewayContext } from "./context.ts";
import { currentSettings } from "./settings.ts";

/**
 * Throws when the program of an agent cannot run on this machine or with these settings: it needs a sandbox that lets it
 * connect to one socket and to no other.
 */
export function assertHostSupported(context: GatewayContext): void {
  const { settings } = currentSettings(context);
  const capabilities = context.sandboxCapabilities();
  if (capabilities === null || !capabilities.socketBroker || capabilities.landlock === 0) {
    throw new SallyportError(
      "SandboxUnavailable",
      "This machine cannot confine the program of an agent and let it reach its gateway only, so it is not started.",
      [operatorStep("check_sandbox", "Run `sallyport doctor` to see what is missing and how to enable it.")],
    );
  }
  if (context.workspace === "/") {
    throw new SallyportError("InvalidRequest", "The root directory cannot be the workspace of an agent's program.", [
      operatorStep("check_scope", "Start the program in the folder of a project."),
    ]);
  }
  if (settings.network !== "on" && context.host?.network !== true) {
    throw new SallyportError(
      "InvalidConfiguration",
      "The network of this agent is restricted, and without it the program can reach neither its API nor its gateway.",
      [
        operatorStep(
          "request_access",
          "Use `--network on` to start the program with the network, which requires approval. Its commands keep the configured one.",
        ),
      ],
    );
  }
  if (settings.user !== null) {
    throw unusable("`user`", "the program needs the files of your own home directory", "`user`");
  }
  if (settings.sandbox === "read-only") {
    throw unusable('`"sandbox": "read-only"`', "the program writes to its own configuration", "another `sandbox`");
  }
}

function unusable(setting: string, why: string, other: string): SallyportError {
  return new SallyportError(
    "InvalidConfiguration",
    `\`sallyport agent\` does not work with ${setting} in the settings of this agent, because ${why}.`,
    [operatorStep("fix_configuration", `Set ${other} for this agent, or start the program under another agent name.`)],
  );
}
