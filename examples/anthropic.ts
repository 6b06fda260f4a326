/**
 * Uses Sallyport's tools with Anthropic's Messages API. Pass a function that calls `client.messages.create` as
 * `create`.
 */
import { type Gateway, type ToolsetName, tools } from "../src/index.ts"; // in your project: "sallyport"
import { byProviderName } from "./names.ts";

export type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: unknown }
  | { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean };

export interface Message {
  role: "user" | "assistant";
  content: string | Block[];
}

export interface Request {
  messages: Message[];
  tools: { name: string; description: string; input_schema: Record<string, unknown> }[];
}

export type Create = (request: Request) => Promise<{ content: Block[]; stop_reason: string }>;

/**
 * Sends a prompt and runs the tools that the model calls. Returns the model's final text when it calls no more tools.
 */
export async function converse(gateway: Gateway, toolset: ToolsetName, prompt: string, create: Create) {
  const offered = byProviderName(tools(gateway, toolset));
  const described = [...offered].map(([name, { description, inputSchema }]) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  const messages: Message[] = [{ role: "user", content: prompt }];
  for (;;) {
    const { content, stop_reason } = await create({ messages, tools: described });
    messages.push({ role: "assistant", content });
    if (stop_reason !== "tool_use") {
      return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    }
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
    // Calls run in parallel: a gateway runs several commands at the same time.
    messages.push({
      role: "user",
      content: await Promise.all(
        calls.map(async ({ id, name, input }): Promise<Block> => {
          const result = await offered.get(name)?.call(input);
          const content = result?.text ?? `Unknown tool: ${name}`;
          return { type: "tool_result", tool_use_id: id, content, is_error: result?.isError ?? true };
        }),
      ),
    });
  }
}
