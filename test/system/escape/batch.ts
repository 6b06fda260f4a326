/**
 * Runs many attempts in one command: each takes only the time of its own shell, which matters in emulated machines.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Arena } from "./arena.ts";
import type { Attempt } from "./attempt.ts";

/** How one attempt of a batch ended. */
export interface Ended {
  code: number;
  output: string;
}

/** The number of attempts in one command, so that their outcomes fit into its output. */
const SIZE = 50;

/**
 * Runs the scripts in the arguments one after the other in the workspace, and prints the outcome of each. PREPARE
 * restores the folders, or removes what the attempt before has created in the workspace.
 */
const DRIVER = `
shopt -s dotglob nullglob
for script in "$@"; do
  cd / && eval "$PREPARE" && cd "$WORKSPACE" || exit
  output=$(bash "$script" 2>&1 </dev/null)
  printf '%s %d %q\\n' "\${script##*/}" $? "\${output:0:150}"
done`;

const CLEAN = `
for entry in "$WORKSPACE"/*; do
  test -e "$TEMPLATE/workspace/\${entry##*/}" || rm -rf "$entry"
done`;

/**
 * Returns how each attempt ended, or undefined for attempts that did not: the command may have been killed before. With
 * `restores`, the folders are restored before each attempt, which only works without a sandbox.
 */
export async function runBatch(
  gateway: Gateway,
  arena: Arena,
  attempts: readonly Attempt[],
  { env, under, restores }: { env: Record<string, string>; under: object; restores: boolean },
): Promise<{ ended: Map<string, Ended>; warnings: string[] }> {
  const folder = join(arena.sockets, "attempts");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "driver.sh"), DRIVER);
  const ended = new Map<string, Ended>();
  const warnings: string[] = [];
  for (let first = 0; first < attempts.length; first += SIZE) {
    const some = attempts.slice(first, first + SIZE);
    // The driver may have been killed while it restored the folders.
    if (restores) arena.restore();
    for (const [index, { script }] of some.entries()) writeFileSync(join(folder, String(index)), script);
    const result = await gateway.run({
      command: "bash",
      args: [join(folder, "driver.sh"), ...some.map((_, index) => join(folder, String(index)))],
      env: {
        ...env,
        WORKSPACE: arena.workspace,
        TEMPLATE: arena.template,
        PREPARE: restores ? arena.restoreScript : CLEAN,
      },
      timeoutMs: 600_000,
      ...under,
    });
    if (result.error?.type === "SpawnFailed") throw new Error(result.error.message);
    warnings.push(...result.warnings);
    for (const [, index, code, output = ""] of result.output.matchAll(/^(\d+) (\d+) (.*)$/gm)) {
      const attempt = some[Number(index)];
      if (attempt) ended.set(attempt.name, { code: Number(code), output });
    }
  }
  return { ended, warnings };
}
