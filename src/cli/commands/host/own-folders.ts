import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { operatorConfigPath } from "../../../config/load.ts";
import { callerPath } from "../../../core/caller.ts";
import { SallyportError } from "../../../core/error.ts";
import { operatorStep } from "../../../core/next-step.ts";
import { isWithin, nearestReal } from "../../../sandbox/workspace.ts";

/**
 * Throws when the state folder or the folder of the operator's configuration is in the workspace, except at their usual
 * place in the home directory, which is denied to commands. An agent host may load the variables that name them from a
 * file of the agent, which could have placed grants or a configuration there (invariant 7).
 */
export function assertOwnFoldersOutside(workspace: string, state: string): void {
  const home = homeOfUser();
  const usual = [".local/state/sallyport", ".config/sallyport"].map((path) => realOf(join(home, path)));
  for (const folder of [state, dirname(operatorConfigPath())].map((path) => realOf(callerPath(path)))) {
    if (!isWithin(folder, workspace) || usual.includes(folder)) continue;
    const message = `The folder \`${folder}\` of Sallyport is in the workspace \`${workspace}\`.`;
    throw new SallyportError("StateUnusable", message, [
      operatorStep("check_variables", "Check SALLYPORT_STATE, XDG_STATE_HOME, XDG_CONFIG_HOME and HOME in the host."),
    ]);
  }
}

/** Returns the home directory in the user database: HOME is one of the variables that the agent may have set. */
function homeOfUser(): string {
  try {
    return userInfo().homedir;
  } catch {
    return "/nonexistent"; // the user has no entry, as in some containers
  }
}

function realOf(path: string): string {
  const { real, missing } = nearestReal(path);
  return join(real, ...missing);
}
