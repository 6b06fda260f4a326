// Writes the published JSON Schemas and the generated parts of the documentation:
//   node schema/generate.ts && npx biome format --write schema
import { readFileSync, writeFileSync } from "node:fs";
import { configJsonSchema } from "../src/config/schema.ts";
import { keyTable } from "./key-table.ts";
import { nameTable } from "./name-table.ts";
import { PROFILE_SCHEMA, profileTable } from "./profile-table.ts";

function fill(path: string, mark: string, text: string): void {
  const file = new URL(path, import.meta.url);
  const between = new RegExp(`(<!-- ${mark} -->\n)[^]*?(<!-- /${mark} -->)`);
  const filled = readFileSync(file, "utf8").replace(between, (_, start, end) => `${start}\n${text}\n\n${end}`);
  writeFileSync(file, filled);
}

writeFileSync(new URL("sallyport.schema.json", import.meta.url), JSON.stringify(configJsonSchema(), null, 2));
writeFileSync(new URL("agent-profile.schema.json", import.meta.url), JSON.stringify(PROFILE_SCHEMA, null, 2));
fill("../docs/agent-profiles.md", "keys", profileTable());
fill("../docs/configuration.md", "keys", keyTable());
fill("../docs/environment.md", "names", nameTable());
