import { type Answer, type Format, type Json, type StreamEvent, textOf } from "./conversation.ts";

// Gemini generateContent: Gemini CLI.
export const gemini: Format = {
  name: "gemini",
  path: /:(?:streamG|g)enerateContent$/,
  read: (body, path) => ({
    tools: (body.tools ?? []).flatMap((tool: Json) => (tool.functionDeclarations ?? []).map((one: Json) => one.name)),
    results: (body.contents ?? [])
      .flatMap((content: Json) => content.parts ?? [])
      .filter((part: Json) => part.functionResponse !== undefined)
      .map((part: Json) => resultText(part.functionResponse.response)),
    stream: path.endsWith("streamGenerateContent"),
  }),
  whole: (answer) => candidate(answer),
  events: (answer): StreamEvent[] => [{ data: candidate(answer) }],
};

function resultText(response: Json): string {
  return textOf(response?.output ?? response?.error ?? response);
}

function candidate(answer: Answer): object {
  const { id, name, input } = "call" in answer ? answer.call : { id: "", name: "", input: {} };
  const part = "text" in answer ? { text: answer.text } : { functionCall: { id, name, args: input } };
  return {
    candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 },
    modelVersion: "stand-in",
  };
}
