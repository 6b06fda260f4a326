import type { Merge } from "../src/config/merge.ts";
import { MERGE } from "../src/config/merge.ts";
import type { JsonSchema } from "../src/config/schema.ts";
import { configJsonSchema } from "../src/config/schema.ts";

type Table = { [key: string]: Merge<unknown> | Table };

/** Returns the keys of sallyport.json as a Markdown table: their descriptions, and what a workspace file may do with them. */
export function keyTable(): string {
  const rows = [
    ["key", "description", "values", "default", "a workspace file may"],
    ["---", "---", "---", "---", "---"],
    ...keys(configJsonSchema(), MERGE as unknown as Table, []),
  ];
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function keys(schema: JsonSchema, table: Table, path: string[]): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
    const at = [...path, key];
    const node = table[key];
    if (node && typeof node.tighten !== "function") return keys(property, node as Table, at);
    const value = property.default === undefined ? "" : `\`${JSON.stringify(property.default)}\``;
    const may = (node as Merge<unknown> | undefined)?.workspaceMay ?? (key === "agents" ? "tighten each agent" : "");
    return [[`\`${at.join(".")}\``, linkPages(String(property.description ?? "")), values(property), value, may]];
  });
}

/** Replaces references such as `docs/work-queue.md` with links, because the table is in the same folder as the pages. */
function linkPages(text: string): string {
  return text.replace(/\bdocs\/(\w)([\w-]*)\.md\b/g, (_, first: string, rest: string) => {
    return `[${first.toUpperCase()}${rest.replaceAll("-", " ")}](${first}${rest}.md)`;
  });
}

function values(schema: JsonSchema): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(choice).join(", ");
  if (schema.type === "array")
    return schema.items && (schema.items as JsonSchema).type === "object" ? "list of objects" : "list of strings";
  if (schema.type === "integer") return "integer";
  return String(schema.type);
}

/** Describes one alternative of a union; an object is described by its keys. */
function choice(schema: JsonSchema): string {
  if (!schema.properties) return values(schema);
  return `\`{ ${Object.keys(schema.properties)
    .map((key) => `"${key}": […]`)
    .join(", ")} }\``;
}
