import * as z from "zod";
import { Usage } from "../../core/session-schema.ts";
import { type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { flag } from "../schemas.ts";
import { attachment, streamResponse } from "../stream-response.ts";

const Screen = z
  .looseObject({
    columns: z.int().describe("Width in columns"),
    rows: z.int().describe("Height in rows"),
    lines: z.array(z.string()).describe("Text of each row, without trailing blanks"),
    cursor: z
      .object({
        column: z.int().describe("Column, from 0"),
        row: z.int().describe("Row, from 0"),
        visible: z.boolean().describe("Whether the cursor is visible"),
      })
      .describe("Cursor"),
    title: z.string().describe("Window title set by the program"),
    alternate: z.boolean().describe("Whether a full-screen program uses the alternate screen"),
    modes: z
      .object({
        applicationCursor: z.boolean().describe("Application cursor keys"),
        bracketedPaste: z.boolean().describe("Bracketed paste"),
      })
      .describe("Terminal modes set by the program"),
    offset: z.int().describe("Byte offset in the log that the screen corresponds to"),
    scrollback: z.array(z.string()).optional().describe("Lines that scrolled off the screen, if requested"),
  })
  .meta({ id: "Screen" });

const Process = z.object({
  pid: z.int().describe("Process ID"),
  ppid: z.int().describe("Process ID of the parent"),
  state: z.string().describe("Process state, such as `R` or `S`"),
  command: z.string().describe("Command line"),
  cpuMs: z.number().describe("CPU time in milliseconds"),
  memoryBytes: z.number().describe("Resident memory in bytes"),
});

export const terminalOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions/:id/screen",
    id: "screen",
    summary: "Get the terminal screen of a session",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      attributes: flag().optional().describe("Include colors and text styles"),
      scrollback: flag().optional().describe("Include lines that scrolled off the screen"),
    }),
    response: Screen,
    handle: async ({ gateway, params, query }) => (await gateway.find(params.id ?? "")).screen(query),
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/picture",
    id: "picture",
    summary: "Get the terminal screen of a session as an image",
    roles: READERS_AND_AGENT,
    query: z.strictObject({ format: z.literal("svg").optional().describe("Image format (default: svg)") }),
    response: { media: "image/svg+xml", description: "SVG image of the screen" },
    handle: async ({ gateway, params, query: { format = "svg" } }) => {
      const picture = await (await gateway.find(params.id ?? "")).picture(format);
      return new Response(new Uint8Array(picture), { headers: { "content-type": "image/svg+xml" } });
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id/recording",
    id: "recording",
    summary: "Download the terminal recording of a session",
    roles: READERS_AND_AGENT,
    response: { media: "application/x-asciicast", description: "Recording in asciicast format, version 2" },
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
    summary: "Get the resource usage and processes of a session",
    roles: READERS_AND_AGENT,
    response: z.object({
      usage: Usage.nullable().describe("Resource usage of the process tree"),
      processes: z.array(Process).describe("Running processes"),
    }),
    handle: async ({ gateway, params }) => (await gateway.find(params.id ?? "")).usage(),
  }),
];

async function* withBreaks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield line.endsWith("\n") ? line : `${line}\n`;
}
