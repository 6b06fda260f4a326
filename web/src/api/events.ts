import { ApiError, address, open, type Query } from "./client.ts";

const RETRY_MS = 2000;

interface EventHandlers {
  onEvent: (name: string, data: unknown) => void;
  /** Called when the connection is lost or cannot be made. `refused` is true if the service rejected the stream. */
  onLost: (refused: boolean) => void;
}

/**
 * Reads an event stream and resumes it after a lost connection. `EventSource` cannot send the key in a header, and an
 * address must not contain it. After a refusal the stream starts from the beginning. Returns a function that stops reading.
 */
export function readEvents(path: string, query: Query, handlers: EventHandlers): () => void {
  const over = new AbortController();
  void read(address(path, query), handlers, over.signal);
  return () => over.abort();
}

async function read(path: string, { onEvent, onLost }: EventHandlers, signal: AbortSignal): Promise<void> {
  let last = "";
  while (!signal.aborted) {
    try {
      const headers = { accept: "text/event-stream", ...(last !== "" && { "last-event-id": last }) };
      const response = await open(path, signal, headers);
      if (response.status === 204 || response.body === null) return; // the stream has ended
      for await (const event of eventsOf(response.body)) {
        if (event.id !== null) last = event.id;
        if (event.name !== "") onEvent(event.name, JSON.parse(event.data));
      }
      if (!signal.aborted) onLost(false);
    } catch (error) {
      if (signal.aborted) return;
      const refused = error instanceof ApiError;
      if (refused) last = "";
      onLost(refused);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

interface ServerEvent {
  name: string;
  data: string;
  id: string | null;
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield eventOf(block);
  }
}

function eventOf(block: string): ServerEvent {
  const event: ServerEvent = { name: "", data: "", id: null };
  for (const line of block.split("\n")) {
    const [, field, value = ""] = /^(event|data|id): ?(.*)$/.exec(line) ?? [];
    if (field === "event") event.name = value;
    else if (field === "data") event.data += value;
    else if (field === "id") event.id = value;
  }
  return event;
}
