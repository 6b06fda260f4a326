import { profileJsonSchema } from "../src/cli/agent/profile.ts";
import type { JsonSchema } from "../src/config/schema.ts";

export const PROFILE_SCHEMA = profileJsonSchema() as JsonSchema;

/** Returns the keys of a profile as a Markdown table. */
export function profileTable(): string {
  const rows = Object.entries(PROFILE_SCHEMA.properties ?? {}).map(([key, { description }]) => [
    `\`${key}\``,
    String(description),
  ]);
  return [["key", "meaning"], ["---", "---"], ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
