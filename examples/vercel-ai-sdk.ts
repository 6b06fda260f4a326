/** Tools for the Vercel AI SDK (5 and later). `dynamicTool` comes from the package `ai`, which takes zod schemas as they are. */
import { type Gateway, type ToolsetName, tools } from "../src/index.ts"; // in your project: "sallyport"
import { providerName } from "./names.ts";

interface Definition {
  description: string;
  inputSchema: unknown;
  execute(input: unknown, options: { abortSignal?: AbortSignal }): Promise<string>;
}

/**
 * What `generateText` and `streamText` take as `tools`.
 *
 * @example
 * const { text } = await generateText({
 *   model,
 *   tools: aiSdkTools(gateway, "bash", dynamicTool),
 *   stopWhen: stepCountIs(20),
 *   prompt: "Run the tests and mend what fails.",
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
      // Aborting the request ends the command with everything it started.
      execute: async (input, { abortSignal }) =>
        (await tool.call(input, abortSignal ? { signal: abortSignal } : {})).text,
    };
    return [providerName(tool.name), dynamicTool(definition)];
  });
  return Object.fromEntries(made);
}
