import { readdirSync, readFileSync } from "node:fs";
import type { RawClient } from "../../fixtures/mcp.ts";

const FOLDER = new URL("recorded/", import.meta.url);

/** How a host started a process of ours, and what it sent to it. `npm run hosts -- --record` writes them. */
export interface Recording {
  args: string[];
  env: Record<string, string>;
  lines: unknown[];
}

/** The recordings of one mode, by host. */
export function recordings(mode: string): Map<string, Recording[]> {
  const end = `-${mode}.jsonl`;
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(end));
  return new Map(files.map((name) => [name.slice(0, -end.length), read(readFileSync(new URL(name, FOLDER), "utf8"))]));
}

function read(text: string): Recording[] {
  const processes: Recording[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const { args, env = {}, host } = JSON.parse(line) as Partial<Recording> & { host?: unknown };
    if (args) processes.push({ args, env, lines: [] });
    else processes.at(-1)?.lines.push(host);
  }
  return processes;
}

export interface Message {
  id?: string | number;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
}

export interface Exchange {
  request: Message;
  response: Message;
}

/** Sends what a host sent, in its order, and returns the requests with their responses. */
export async function replay(client: RawClient, lines: Message[]): Promise<Exchange[]> {
  const exchanges: Promise<Exchange>[] = [];
  let asked = 0;
  for (const line of lines) {
    if (line.method === undefined) {
      // The host's answer to a request of ours, such as a form.
      const requests = () => client.received.filter((message) => "method" in message && "id" in message);
      const request = await client.wanted((message) => message === requests()[asked]);
      asked += 1;
      client.send(JSON.stringify({ ...line, id: request.id }));
    } else if (line.id === undefined) {
      client.send(JSON.stringify(line));
    } else {
      const request = withCurrentKeys(line, (await Promise.all(exchanges)).at(-1));
      client.send(JSON.stringify(request));
      const response = client.wanted(({ id, method }) => id === line.id && method === undefined);
      // A subscription is answered when it ends. The answer to a call may have to wait for the host's answer to a form.
      if (line.method !== "subscriptions/listen") exchanges.push(response.then((response) => ({ request, response })));
      const next = lines[lines.indexOf(line) + 1];
      if (next?.method !== undefined && line.method !== "subscriptions/listen") await response;
    }
  }
  return Promise.all(exchanges);
}

/**
 * Since revision 2026-07-28, a form is part of the result, and the host repeats the call with its answer under the key
 * of the form, which is new in each run.
 */
function withCurrentKeys(line: Message, last: Exchange | undefined): Message {
  const { inputResponses } = line.params ?? {};
  if (typeof inputResponses !== "object" || inputResponses === null) return line;
  const { inputRequests, requestState } = last?.response.result ?? {};
  const keys = Object.keys((inputRequests as object | undefined) ?? {});
  const answers = Object.values(inputResponses).map((answer, index) => [keys[index] ?? "", answer]);
  return { ...line, params: { ...line.params, inputResponses: Object.fromEntries(answers), requestState } };
}
