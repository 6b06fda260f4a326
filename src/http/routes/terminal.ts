import * as z from "zod";
import { Usage } from "../../core/session-schema.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { flag } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

const Screen = z
  .looseObject({
    columns: z.int(),
    rows: z.int(),
    lines: z.array(z.string()),
    cursor: z.object({ column: z.int(), row: z.int(), visible: z.boolean() }),
    title: z.string(),
    alternate: z.boolean(),
    modes: z.object({ applicationCursor: z.boolean(), bracketedPaste: z.boolean() }),
    offset: z.int(),
    scrollback: z.array(z.string()).optional(),
  })
  .meta({ id: "Screen" });

const Process = z.object({
  pid: z.int(),
  ppid: z.int(),
  state: z.string(),
  command: z.string(),
  cpuMs: z.number(),
  memoryBytes: z.number(),
});

export const terminalOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions/:id/screen",
    id: "screen",
    summary: "What a person at a session's terminal would see",
    roles: READERS_AND_AGENT,
    query: z.strictObject({ attributes: flag().optional(), scrollback: flag().optional() }),
    response: Screen,
    handle: async ({ gateway, params, query }) => (await gateway.find(params.id ?? "")).screen(query),
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/picture",
    id: "picture",
    summary: "The screen of a session's terminal as an SVG image",
    roles: READERS_AND_AGENT,
    query: z.strictObject({ format: z.literal("svg").optional() }),
    response: { media: "image/svg+xml", description: "The screen as SVG text" },
    handle: async ({ gateway, params, query: { format = "svg" } }) => {
      const picture = await (await gateway.find(params.id ?? "")).picture(format);
      return new Response(new Uint8Array(picture), { headers: { "content-type": "image/svg+xml" } });
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/recording",
    id: "recording",
    summary: "What a session wrote to its terminal, with its times: an asciicast of version 2",
    roles: READERS_AND_AGENT,
    response: { media: "application/x-asciicast", description: "One JSON line each" },
    handle: async ({ gateway, params }) => {
      const session = await gateway.find(params.id ?? "");
      return streamResponse(
        withBreaks(session.recording()),
        attachment(`${session.name}.cast`, "application/x-asciicast"),
      );
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/usage",
    id: "usage",
    summary: "CPU, memory and I/O of a session's process tree, and its processes",
    roles: READERS_AND_AGENT,
    response: z.object({ usage: Usage.nullable(), processes: z.array(Process) }),
    handle: async ({ gateway, params }) => (await gateway.find(params.id ?? "")).usage(),
  }),
];

async function* withBreaks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.endsWith("\n") ? line : `${line}\n`;
}
