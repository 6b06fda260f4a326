import type { RunRequest } from "../../../src/core/request.ts";

/**
 * One way to get out, as bash text that exits with 0 only when it got out. It finds its way by these variables: OUT, a
 * folder beside the workspace; HOME, with secrets in it; STATE, the state folder; TOOL, the compiled ways; SUID, the same
 * with root's setuid bit; KEEPER and NEIGHBOUR, processes of others; GATEWAY, ours; PORT, of servers on loopback; SOCKETS,
 * a folder of unix sockets; ABSTRACT, the name of one without a file.
 */
export interface Attempt {
  name: string;
  script: string;
  /** Only these can do it unconfined. */
  who?: "root" | "ordinary";
  /** Besides the default profile. */
  under?: Pick<RunRequest, "sandbox" | "network">;
  /** Called once the command has said `ready`. */
  meanwhile?: "appear";
}

export const tool = (...words: string[]): string => `"$TOOL" ${words.join(" ")}`;
