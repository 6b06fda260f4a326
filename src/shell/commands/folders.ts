/** `cd`, `pushd` and `popd`: where relative paths start from then on. */

import type { Field } from "../expand/field.ts";
import { isInside, normalise } from "../path.ts";
import type { Call } from "../walk/call.ts";
import { readOptions } from "./options.ts";

export function changeFolder(call: Call): void {
  const { operands } = readOptions(call.argv, { short: "LPe@" });
  move(call, destination(call, operands[0]));
}

export function pushFolder(call: Call): void {
  const { state } = call.walk;
  const [operand] = readOptions(call.argv, { short: "n" }).operands;
  const before = state.cwd;
  if (!operand || /^[+-]\d/.test(operand.value ?? "")) {
    const top = state.folders.pop() ?? null;
    move(call, operand ? null : top);
  } else move(call, destination(call, operand));
  state.folders.push(before);
}

export function popFolder(call: Call): void {
  move(call, call.walk.state.folders.pop() ?? null);
}

function destination(call: Call, operand: Field | undefined): string | null {
  const { state, context } = call.walk;
  if (!operand) {
    const home = state.variables.get("HOME");
    return home ? (home.kind === "text" ? normalise(home.text, state.cwd) : null) : context.home;
  }
  if (operand.value === "-") return state.previousCwd;
  if (operand.value === "") return state.cwd;
  if (operand.shape === null || operand.glob || (operand.doubt && operand.value !== null)) return null;
  // CDPATH makes a relative folder mean another one.
  if (state.variables.has("CDPATH") && !/^\.{0,2}\//.test(operand.shape)) return null;
  const folder = normalise(operand.shape, state.cwd);
  return folder !== null && folder.length > 4096 ? null : folder;
}

/** Folders that no `cd` fails on: above the workspace, the home, the root. */
function alwaysThere(call: Call, folder: string | null): boolean {
  const { workspace, home } = call.walk.context;
  return folder !== null && (isInside(workspace, folder) || isInside(home, folder) || folder === "/tmp");
}

function move(call: Call, folder: string | null): void {
  const { state } = call.walk;
  if (state.cwd !== null && !state.stopsOnError && !alwaysThere(call, folder)) {
    state.fallbacks = [...state.fallbacks, state.cwd].slice(-8);
  }
  state.previousCwd = state.cwd;
  state.cwd = folder;
}
