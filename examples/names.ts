import type { Tool } from "../src/index.ts"; // in your project: "sallyport"

/** Anthropic and OpenAI take no dots in names; two underscores keep `process.list` apart from `process_list`. */
export function providerName(name: string): string {
  return name.replaceAll(".", "__");
}

/** The tools by the names a model calls them. */
export function byProviderName(tools: readonly Tool[]): Map<string, Tool> {
  return new Map(tools.map((tool) => [providerName(tool.name), tool]));
}
