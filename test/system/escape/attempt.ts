import type { RunRequest } from "../../../src/core/request.ts";
import type { UnsupportedFeature } from "../../../src/core/sandbox-level.ts";

/**
 * One attempt to escape, as a bash script that exits with 0 only if the attempt succeeds. It can use these variables:
 * OUT, a folder next to the workspace; HOME, a home directory with secrets; STATE, the state folder; TOOL, a program
 * with further attempts; SUID, a copy of it that is setuid root; KEEPER, NEIGHBOR and GATEWAY, the PIDs of other
 * processes; PORT, the port of servers on loopback; SOCKETS, a folder with Unix sockets; SHARED, a folder of another
 * program in /tmp; SHARED_TMP, a folder in /tmp with a socket; ABSTRACT, the name of an abstract socket.
 */
export interface Attempt {
  name: string;
  script: string;
  /** For whom the attempt is made: root, root with CAP_SYS_ADMIN, or an ordinary user. Undefined means everyone. */
  who?: "root" | "admin" | "ordinary";
  /** Changes to the default profile. */
  under?: Pick<RunRequest, "sandbox" | "network">;
  /** Features without which docs/sandbox.md does not promise to prevent the attempt. */
  unless?: readonly UnsupportedFeature[];
  /** What happens once the command has printed `ready`: with `appear`, a secret is created. */
  meanwhile?: "appear";
}

export const tool = (...words: string[]): string => `"$TOOL" ${words.join(" ")}`;
