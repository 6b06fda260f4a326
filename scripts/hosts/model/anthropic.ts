import { type Answer, type Format, type Json, type StreamEvent, textOf } from "./conversation.ts";

// Anthropic messages: Claude Code.
export const anthropic: Format = {
  name: "anthropic messages",
  path: /\/messages$/,
  read: (body) => ({
    tools: [
      ...(body.tools ?? []).filter((tool: Json) => tool.defer_loading !== true).map((tool: Json) => tool.name),
      // Tools of servers that connected after the first request.
      ...parts(body)
        .filter((part) => part.type === "tool_addition")
        .map((part) => part.tool?.name),
    ],
    results: parts(body)
      .filter((part: Json) => part.type === "tool_result")
      .map((part: Json) => textOf(part.content)),
    stream: body.stream === true,
  }),
  whole: (answer, model) => ({ ...message(model), content: [block(answer)], stop_reason: stopReason(answer) }),
  events: (answer, model): StreamEvent[] => {
    const start = "text" in answer ? { type: "text", text: "" } : { ...(block(answer) as { type: string }), input: {} };
    const delta =
      "text" in answer
        ? { type: "text_delta", text: answer.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(answer.call.input) };
    const events = [
      { type: "message_start", message: { ...message(model), content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: stopReason(answer), stop_sequence: null },
        usage: { output_tokens: 10 },
      },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ event: data.type, data }));
  },
};

function parts(body: Json): Json[] {
  return (body.messages ?? []).flatMap((message: Json) => (Array.isArray(message.content) ? message.content : []));
}

function message(model: string): object {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model,
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
}

function block(answer: Answer): object {
  if ("text" in answer) return { type: "text", text: answer.text };
  return { type: "tool_use", ...answer.call };
}

function stopReason(answer: Answer): string {
  return "text" in answer ? "end_turn" : "tool_use";
}
