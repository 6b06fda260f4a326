import { SallyportError } from "../core/error.ts";
import { TOOLSETS } from "../core/settings.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { nearest } from "../text/nearest.ts";
import { BASH } from "./bash/index.ts";
import { bind, type Toolset } from "./define.ts";
import { EXEC } from "./exec/index.ts";
import { PROCESS } from "./process/index.ts";
import { RUNNER } from "./runner/index.ts";
import { SHELL } from "./shell/index.ts";
import type { Tool, ToolFailure, ToolsetName } from "./tool.ts";

const ALL: Record<ToolsetName, Toolset> = { runner: RUNNER, process: PROCESS, exec: EXEC, shell: SHELL, bash: BASH };

/**
 * Returns the tools of one or more toolsets, with schemas and descriptions for a model. A toolset that is disabled in
 * the configuration has no tools; `exec` is disabled by default.
 *
 * Throws `InvalidRequest` for an unknown toolset, and `InvalidConfiguration` when two toolsets have a tool of the same
 * name.
 *
 * @example
 * ```ts
 * import { tools } from "sallyport";
 *
 * const [bash] = tools(gateway, "bash");
 * const answer = await bash?.call({ command: "echo hello", description: "Print a greeting" });
 * console.log(bash?.name, answer?.isError); // Bash false
 * ```
 */
export function tools(gateway: Gateway, names: ToolsetName | readonly ToolsetName[]): Tool[] {
  const enabled = gateway.toolsets;
  const wanted = [...new Set([names].flat())].map(find).filter(({ name }) => enabled[name]);
  const found = wanted.flatMap((toolset) => toolset.tools.map((spec) => bind(gateway, toolset, spec)));
  assertDistinctNames(found);
  return found;
}

/** Returns a failure in the error types, recovery actions and words of a toolset. */
export function toolsetFailure(name: ToolsetName, failure: ToolFailure): ToolFailure {
  return find(name).mapFailure(failure);
}

function find(name: ToolsetName): Toolset {
  const toolset = Object.hasOwn(ALL, name) ? ALL[name] : undefined;
  if (toolset) return toolset;
  throw unknownToolset(String(name));
}

/** Throws InvalidConfiguration when two tools have the same name: a call would be ambiguous. */
export function assertDistinctNames(found: readonly Pick<Tool, "name" | "toolset">[]): void {
  const seen = new Map<string, string>();
  for (const { name, toolset } of found) {
    const other = seen.get(name);
    if (other !== undefined) throw duplicateToolName(name, other, toolset);
    seen.set(name, toolset);
  }
}

function unknownToolset(name: string): SallyportError {
  const near = nearest(name, TOOLSETS);
  const message = `Unknown toolset ${JSON.stringify(name)}${near ? `; did you mean \`${near}\`?` : "."}`;
  return new SallyportError("InvalidRequest", message, [
    { action: "choose_toolset", hint: `Use one of ${TOOLSETS.join(", ")}.` },
  ]);
}

function duplicateToolName(tool: string, one: string, other: string): SallyportError {
  const message = `The toolsets ${one} and ${other} both have a tool named ${JSON.stringify(tool)}.`;
  return new SallyportError("InvalidConfiguration", message, [
    { action: "choose_toolset", hint: `Enable only one of them, ${one} or ${other}.` },
  ]);
}
