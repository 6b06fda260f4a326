/**
 * Uses Sallyport's tools with OpenAI's chat API. Pass a function that calls `client.chat.completions.create` as
 * `create`.
 */
import { type Gateway, type ToolsetName, tools } from "../src/index.ts"; // in your project: "sallyport"
import { byProviderName } from "./names.ts";

export interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

export type Message =
  | { role: "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: ToolCall[] }
  | { role: "tool"; tool_call_id: string; content: string };

export interface Request {
  messages: Message[];
  tools: {
    type: "function";
    function: { name: string; description: string; parameters: Record<string, unknown> };
  }[];
}

export type Create = (request: Request) => Promise<{ choices: { message: Message & { role: "assistant" } }[] }>;

/**
 * Sends a prompt and runs the tools that the model calls. Returns the model's final text when it calls no more tools.
 */
export async function converse(gateway: Gateway, toolset: ToolsetName, prompt: string, create: Create) {
  const offered = byProviderName(tools(gateway, toolset));
  const described = [...offered].map(([name, { description, inputSchema }]) => ({
    type: "function" as const,
    function: { name, description, parameters: inputSchema },
  }));
  const messages: Message[] = [{ role: "user", content: prompt }];
  for (;;) {
    const { choices } = await create({ messages, tools: described });
    const message = choices[0]?.message ?? { role: "assistant", content: null };
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    const results = message.tool_calls.map(async ({ id, function: { name, arguments: json } }): Promise<Message> => {
      const result = await offered.get(name)?.call(parse(json));
      return { role: "tool", tool_call_id: id, content: result?.text ?? `Unknown tool: ${name}` };
    });
    messages.push(...(await Promise.all(results)));
  }
}

/**
 * Parses the arguments of a call. Invalid JSON is passed on as a string, which the tool rejects with a message for the
 * model.
 */
function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
