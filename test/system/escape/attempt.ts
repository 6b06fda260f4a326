import type { RunRequest } from "../../../src/core/request.ts";

/**
 * One attempt to escape, as bash text that exits with 0 only if it succeeds. It has these variables: OUT, a folder
 * next to the workspace; HOME, which contains secrets; STATE, the state folder; TOOL, a program with further attempts;
 * SUID, the same as a setuid program of root; KEEPER, NEIGHBOR and GATEWAY, pids of other processes; PORT, of servers
 * on loopback; SOCKETS, a folder with Unix sockets; ABSTRACT, the name of an abstract socket.
 */
export interface Attempt {
  name: string;
  script: string;
  /** The kind of user for whom the attempt succeeds without a sandbox. Undefined for both. */
  who?: "root" | "ordinary";
  /** Changes to the default profile. */
  under?: Pick<RunRequest, "sandbox" | "network">;
  /** Called once the command has said `ready`. */
  meanwhile?: "appear";
}

export const tool = (...words: string[]): string => `"$TOOL" ${words.join(" ")}`;
