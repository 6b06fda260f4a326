import type { Recovery } from "../../core/error.ts";
import { nearest } from "../../text/nearest.ts";

type Words = [message: string, recovery: Recovery[]];

export function unknownToolset(name: string, all: readonly string[]): Words {
  const near = nearest(name, all);
  return [
    `There is no toolset ${JSON.stringify(name)}${near ? `; did you mean \`${near}\`?` : "."}`,
    [{ action: "choose_toolset", hint: `Choose from ${all.join(", ")}.` }],
  ];
}

export function nameClash(tool: string, one: string, other: string): Words {
  return [
    `The toolsets ${one} and ${other} both have a tool named ${JSON.stringify(tool)}.`,
    [{ action: "choose_toolset", hint: `Offer only one of them: ${one} or ${other}.` }],
  ];
}
