import type { RunRequest } from "../../../src/core/request.ts";

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
  /** The kind of user for whom the attempt succeeds without a sandbox. Undefined means both kinds. */
  who?: "root" | "ordinary";
  /** Changes to the default profile. */
  under?: Pick<RunRequest, "sandbox" | "network">;
  /** What happens once the command has printed `ready`: with `appear`, a secret is created. */
  meanwhile?: "appear";
}

export const tool = (...words: string[]): string => `"$TOOL" ${words.join(" ")}`;
