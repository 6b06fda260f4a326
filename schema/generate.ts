// Writes the published JSON Schema and the documentation's table of keys:
//   node schema/generate.ts && npx biome format --write schema
import { readFileSync, writeFileSync } from "node:fs";
import { configJsonSchema } from "../src/config/json-schema.ts";
import { keyTable } from "./key-table.ts";

const document = new URL("../docs/configuration.md", import.meta.url);
const table = /(<!-- keys -->\n)[\s\S]*?(<!-- \/keys -->)/;

writeFileSync(new URL("sallyport.schema.json", import.meta.url), JSON.stringify(configJsonSchema(), null, 2));
writeFileSync(
  document,
  readFileSync(document, "utf8").replace(table, (_, start: string, end: string) => `${start}\n${keyTable()}\n\n${end}`),
);
