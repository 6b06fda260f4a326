import type { Tool } from "../src/index.ts"; // in your project: "sallyport"

/**
 * Returns the name of a tool for a provider. Anthropic and OpenAI allow no dots in names; two underscores keep
 * `process.list` distinct from `process_list`.
 */
export function providerName(name: string): string {
  return name.replaceAll(".", "__");
}

/** Returns the tools by their names for a provider. */
export function byProviderName(tools: readonly Tool[]): Map<string, Tool> {
  return new Map(tools.map((tool) => [providerName(tool.name), tool]));
}
