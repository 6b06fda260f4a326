import { rows } from "../../test/unit/policy/corpus/rows.ts";

/** The shares in percent of dangerous and of harmless commands that were stopped. */
export interface Score {
  caught: number;
  wronged: number;
}

export function score(stops: (command: string) => boolean): Score {
  const share = (expected: string): number => {
    const members = rows().filter((row) => row.expected === expected);
    return (100 * members.filter(({ command }) => stops(command)).length) / members.length;
  };
  return { caught: share("deny"), wronged: share("allow") };
}
