/**
 * Uses Sallyport's tools with the Vercel AI SDK (version 5 or later). `dynamicTool` is a function of the package `ai`.
 */
import { type Gateway, type ToolsetName, tools } from "../src/index.ts"; // in your project: "sallyport"
import { providerName } from "./names.ts";

interface Definition {
  description: string;
  inputSchema: unknown;
  execute(input: unknown, options: { abortSignal?: AbortSignal }): Promise<string>;
}

/**
 * Returns the `tools` for `generateText` and `streamText`.
 *
 * @example
 * const { text } = await generateText({
 *   model,
 *   tools: aiSdkTools(gateway, "bash", dynamicTool),
 *   stopWhen: stepCountIs(20),
 *   prompt: "Run the tests and fix the failures.",
 * });
 */
export function aiSdkTools<Made>(
  gateway: Gateway,
  toolset: ToolsetName,
  dynamicTool: (definition: Definition) => Made,
): Record<string, Made> {
  const made = tools(gateway, toolset).map((tool) => {
    const definition: Definition = {
      description: tool.description,
      inputSchema: tool.input,
      // Aborting the request stops the command and every process it has started.
      execute: async (input, { abortSignal }) =>
        (await tool.call(input, abortSignal ? { signal: abortSignal } : {})).text,
    };
    return [providerName(tool.name), dynamicTool(definition)];
  });
  return Object.fromEntries(made);
}
