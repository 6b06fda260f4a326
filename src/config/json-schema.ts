import * as z from "zod";
import { DEFAULTS } from "../core/settings.ts";
import { configFile } from "./schema.ts";

export interface JsonSchema {
  [keyword: string]: unknown;
  properties?: Record<string, JsonSchema>;
}

/** The JSON Schema of sallyport.json, with the defaults that a file left out would have. */
export function configJsonSchema(): JsonSchema {
  const schema = z.toJSONSchema(configFile(), { io: "input", target: "draft-2020-12" }) as JsonSchema;
  addDefaults(schema, DEFAULTS as unknown as Record<string, unknown>);
  return { $schema: schema.$schema, title: "sallyport.json", ...schema };
}

function addDefaults(schema: JsonSchema, defaults: Record<string, unknown>): void {
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const value = Object.hasOwn(defaults, key) ? defaults[key] : undefined;
    if (property.properties && value) addDefaults(property, value as Record<string, unknown>);
    else if (value !== undefined && value !== null) property.default = value;
  }
}
