// What the stand-in model reads from a request and answers, independent of the provider's format.

/** A model request, reduced to what the script needs. */
export interface Conversation {
  /** Names of the tools that the host offers. */
  tools: string[];
  /** Results of the calls so far, in order, as the model would read them. */
  results: string[];
  /** Whether the host asked for a streamed answer. */
  stream: boolean;
}

/** What the model answers: one tool call, or a final text. */
export type Answer = { text: string } | { call: ToolCall };

export interface ToolCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
}

/** A provider's wire format. */
export interface Format {
  name: string;
  /** Path of the requests that generate an answer. */
  path: RegExp;
  read: (body: Json, path: string) => Conversation;
  /** The complete answer, for requests that do not stream. */
  whole: (answer: Answer, model: string) => unknown;
  /** The events of a streamed answer. */
  events: (answer: Answer, model: string) => StreamEvent[];
}

export interface StreamEvent {
  /** Name of the server-sent event, in formats that name them. */
  event?: string;
  /** Data of the event; text is sent as it is. */
  data: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: requests of other people's programs, read defensively
export type Json = any;

/** The text of a content field: a string, or a list of parts of which some have text. */
export function textOf(content: Json): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : JSON.stringify(content);
  return content.map((part: Json) => (typeof part?.text === "string" ? part.text : JSON.stringify(part))).join("\n");
}
