import { UsageError } from "./usage-error.ts";

export const TOOLSETS = ["runner", "process", "exec", "shell", "bash"] as const;

/** `--tools bash,process`. */
export function toolsetsOf(text: string): (typeof TOOLSETS)[number][] {
  return text.split(",").map((given) => {
    const name = TOOLSETS.find((known) => known === given.trim());
    if (!name) throw new UsageError(`\`--tools\` must be some of ${TOOLSETS.join(", ")}; received \`${given}\``);
    return name;
  });
}
