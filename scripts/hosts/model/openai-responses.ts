import { type Answer, type Format, type Json, type StreamEvent, textOf } from "./conversation.ts";

// OpenAI responses: Codex.
export const openaiResponses: Format = {
  name: "openai responses",
  path: /\/responses$/,
  read: (body) => ({
    tools: (body.tools ?? []).flatMap(toolNames),
    results: (Array.isArray(body.input) ? body.input : [])
      .filter((item: Json) => /_output$/.test(String(item.type)))
      .map((item: Json) => textOf(item.output)),
    stream: body.stream === true,
  }),
  whole: (answer, model) => response(answer, model, "completed"),
  events: (answer, model): StreamEvent[] => {
    const created = response(answer, model, "in_progress");
    const events = [
      { type: "response.created", response: { ...created, output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item(answer), status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item: item(answer) },
      { type: "response.completed", response: response(answer, model, "completed") },
    ];
    return events.map((data, index) => ({ event: data.type, data: { ...data, sequence_number: index } }));
  },
};

/** Names of a tool. A namespace holds the tools of one MCP server. */
function toolNames(tool: Json): string[] {
  if (tool.type === "namespace") {
    return (tool.tools ?? []).map((inner: Json) => `${tool.name}${NAMESPACE_END}${inner.name}`);
  }
  return [String(tool.name ?? tool.type)];
}

/** Separates a namespace from the tool in the names that the script sees. */
const NAMESPACE_END = "::";

function item(answer: Answer): object {
  if ("text" in answer) {
    return {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: answer.text, annotations: [] }],
    };
  }
  const { id, name, input } = answer.call;
  const [first = "", second] = name.split(NAMESPACE_END);
  const named = second === undefined ? { name: first } : { namespace: first, name: second };
  return {
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    ...named,
    arguments: JSON.stringify(input),
    status: "completed",
  };
}

function response(answer: Answer, model: string, status: string): object {
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_767_225_600,
    model,
    status,
    output: [item(answer)],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 110,
    },
  };
}
