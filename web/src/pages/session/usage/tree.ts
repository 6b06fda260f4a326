import type { ProcessInfo } from "../../../../../src/core/gateway.ts";

export interface TreeNode {
  process: ProcessInfo;
  depth: number;
}

/** Orders processes so that parents precede their children. A process without a listed parent is a root. */
export function treeOf(processes: readonly ProcessInfo[]): TreeNode[] {
  const pids = new Set(processes.map(({ pid }) => pid));
  const children = Map.groupBy(processes, ({ ppid, pid }) => (pids.has(ppid) && ppid !== pid ? ppid : 0));
  const nodes: TreeNode[] = [];
  const seen = new Set<number>();
  const walk = (parent: number, depth: number): void => {
    for (const process of children.get(parent) ?? []) {
      // A process ID can be reused while the list is being read, which could create a cycle.
      if (seen.has(process.pid)) continue;
      seen.add(process.pid);
      nodes.push({ process, depth });
      walk(process.pid, depth + 1);
    }
  };
  walk(0, 0);
  for (const process of processes) if (!seen.has(process.pid)) nodes.push({ process, depth: 0 });
  return nodes;
}
