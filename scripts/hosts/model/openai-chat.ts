import { type Answer, type Format, type Json, type StreamEvent, textOf } from "./conversation.ts";

// OpenAI chat completions: opencode, Qwen Code, Copilot CLI, Cline and Continue.
export const openaiChat: Format = {
  name: "openai chat",
  path: /\/chat\/completions$/,
  read: (body) => ({
    tools: (body.tools ?? []).map((tool: Json) => String(tool.function?.name ?? tool.name)),
    results: (body.messages ?? [])
      .filter((message: Json) => message.role === "tool")
      .map((message: Json) => textOf(message.content)),
    stream: body.stream === true,
  }),
  whole: (answer, model) => ({
    ...head(model, "chat.completion"),
    choices: [{ index: 0, message: { role: "assistant", ...content(answer) }, finish_reason: finish(answer) }],
    usage: USAGE,
  }),
  events: (answer, model): StreamEvent[] => {
    const chunk = (delta: object, reason: string | null, more: object = {}) => ({
      data: {
        ...head(model, "chat.completion.chunk"),
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...more,
      },
    });
    return [
      chunk({ role: "assistant", ...content(answer) }, null),
      chunk({}, finish(answer), { usage: USAGE }),
      { data: "[DONE]" },
    ];
  },
};

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

function head(model: string, object: string): object {
  return { id: "chatcmpl-1", object, created: 1_767_225_600, model };
}

function content(answer: Answer): object {
  if ("text" in answer) return { content: answer.text };
  const { id, name, input } = answer.call;
  const call = { index: 0, id, type: "function", function: { name, arguments: JSON.stringify(input) } };
  return { content: null, tool_calls: [call] };
}

function finish(answer: Answer): string {
  return "text" in answer ? "stop" : "tool_calls";
}
