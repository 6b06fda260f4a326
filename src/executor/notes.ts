import type { Abilities } from "./executor.ts";

const KEEPER_NOTES: Record<string, string> = {
  "no-group":
    "it could not be given a process group of its own, so only what was seen of its processes is ended with it",
  "merged-late": "stdout and stderr came through two pipes, so their order in the merged output is roughly right only",
};

/** What a command's keeper could not do as asked. */
export function keeperNotes(names: readonly string[] = []): string[] {
  return names.flatMap((name) => KEEPER_NOTES[name] ?? []);
}

/** What the portable executor cannot promise, in one line for every result; the others keep all of it. */
export function abilityNotes({ kind, confines, exactTrees, limits }: Abilities): string[] {
  if (kind !== "portable") return [];
  const lacks = [
    ...(confines ? [] : ["the kernel does not confine it"]),
    ...(limits ? [] : ["resource limits do not hold"]),
    ...(exactTrees ? [] : ["a process that hides from its tree outlives it"]),
  ];
  return [`run by the portable executor: ${lacks.join(", ")} (see \`sallyport doctor\`)`];
}

/** The same for a person who wants to know all of it. */
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
