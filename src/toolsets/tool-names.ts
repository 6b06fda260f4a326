/** The names of tools in texts for a model. A server can offer its tools with a prefix (`sallyport mcp --prefix NAME`). */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Tool } from "./tool.ts";

/** The prefix of the call that is being served. */
const serving = new AsyncLocalStorage<string>();

/** Returns the name under which the model knows a tool. Every result and error must name tools with this function. */
export function toolName(name: string): string {
  return (serving.getStore() ?? "") + name;
}

/** Returns the tool under its name with a prefix. Its description, its parameters and its results use such names too. */
export function withPrefix(tool: Tool, names: readonly string[], prefix: string): Tool {
  const start = `${prefix}_`;
  const renamed = (text: string) => renameIn(text, names, start);
  return {
    ...tool,
    name: start + tool.name,
    description: renamed(tool.description),
    inputSchema: mapDescriptions(tool.inputSchema, renamed),
    outputSchema: mapDescriptions(tool.outputSchema, renamed),
    call: (args, context) => serving.run(start, () => tool.call(args, context)),
  };
}

/**
 * Renames tools in a description. A name that is also a word, such as `run`, means the tool only between backticks. Names
 * of other programs are not affected: descriptions contain no text of a user.
 */
function renameIn(text: string, names: readonly string[], start: string): string {
  const longestFirst = names.toSorted((one, other) => other.length - one.length);
  const isWord = (name: string) => /^[a-z]+$/.test(name);
  const forms = longestFirst.map((name) =>
    isWord(name) ? `(?<=\`)${name}(?=\`)` : `\\b${name.replaceAll(".", "\\.")}\\b`,
  );
  return text.replace(new RegExp(forms.join("|"), "g"), (name) => start + name);
}

/** Returns a JSON Schema with all of its descriptions changed. */
function mapDescriptions(schema: Record<string, unknown>, change: (text: string) => string): Record<string, unknown> {
  const map = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return key === "description" ? change(value) : value;
    if (Array.isArray(value)) return value.map((each) => map(each, ""));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each, name)]));
  };
  return map(schema, "") as Record<string, unknown>;
}
