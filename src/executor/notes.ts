import type { Abilities } from "./executor.ts";

/** One warning for every result about what the executor does not support. */
export function abilityNotes({ kind, confines, exactTrees, limits }: Abilities): string[] {
  if (kind !== "portable") return [];
  const lacks = [
    ...(confines ? [] : ["the kernel does not confine it"]),
    ...(limits ? [] : ["resource limits do not hold"]),
    ...(exactTrees ? [] : ["a process that hides from its tree outlives it"]),
  ];
  return [`run by the portable executor: ${lacks.join(", ")} (see \`sallyport doctor\`)`];
}

/** The limitations of the portable executor, for `sallyport doctor`. */
export function portableLacks({ confines, exactTrees, limits, pty }: Abilities): string[] {
  return [
    ...(confines ? [] : ["no kernel confinement, so what would run confined is asked about"]),
    ...(limits ? [] : ["no resource limits"]),
    ...(exactTrees ? [] : ["trees are ended as far as they can be found"]),
    "all commands are lost if their one keeper is killed",
    "no figures of what a command used",
    ...(pty ? [] : ["no terminals (install the optional package @lydell/node-pty)"]),
  ];
}
