import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
} from "@modelcontextprotocol/server";
import { SallyportError } from "../core/error.ts";
import type { SessionInfo } from "../core/session.ts";
import { characterStart, readEnds, readPage } from "../session/logs/reader.ts";
import type { Session } from "../session/session.ts";
import { MODEL_BYTES } from "../text/output-limits.ts";
import { truncateMiddle } from "../text/truncate.ts";
import { forModel, hintsForModel } from "../toolsets/next-steps.ts";
import { screenText } from "../toolsets/result-text.ts";
import type { AgentContext } from "./agent-context.ts";
import { resourceNotFoundText } from "./errors.ts";
import { type Address, isLog, LOGS, type Log, parseResourceUri, sessionUri } from "./resource-uri.ts";

interface Found {
  address: Address;
  session: Session;
  info: SessionInfo;
}

/** Finds the session of a URI. Sessions of other agents are treated as if they did not exist. */
export async function findOwnSession(agentContext: AgentContext, uri: string): Promise<Found> {
  const address = parseResourceUri(uri);
  if (!address) throw missing(uri);
  const gateway = await agentContext.gateway();
  try {
    const session = gateway.session(address.id);
    const info = session.info();
    if (info.agent === agentContext.options.agent && info.id === address.id) return { address, session, info };
  } catch (error) {
    if (!(error instanceof SallyportError) || error.type !== "SessionNotFound") throw error;
  }
  throw missing(uri);
}

function missing(uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, resourceNotFoundText(uri), { uri: uri.slice(0, 1000) });
}

const TITLE_BYTES = 120;

/** Returns titles and descriptions for the resources of a session. */
function resourceTexts({ command, status, exitCode, name }: SessionInfo) {
  const title = truncateMiddle(command.replaceAll(/\s+/g, " "), { maxBytes: TITLE_BYTES }).text.replaceAll("\n", " ");
  const outcome = exitCode === null ? status : `${status}, exit code ${exitCode}`;
  return {
    about: { title, description: `Session ${name}: ${outcome}` },
    output: { title: `Output of ${title}`, description: `Output of session ${name}, stdout and stderr in order` },
    screen: { title: `Screen of ${title}`, description: `Terminal screen of session ${name}` },
  };
}

function templateTexts() {
  const contents = {
    stdout: "Standard output of a session",
    stderr: "Standard error of a session",
    output: "Output of a session, stdout and stderr in order",
  };
  const bounds = `\`offset\` and \`limit\` are in bytes (limit at most ${MODEL_BYTES}). Without them, the beginning and the end of the log are returned.`;
  return {
    screen: { title: "Session screen", description: "Terminal screen of a session that runs on a terminal" },
    session: { title: "Session", description: "Command, status, times and resource usage of a session, as JSON" },
    log: (part: keyof typeof contents) => ({
      title: `Session ${part}`,
      description: `${contents[part]}. ${bounds}`,
    }),
  };
}

const MAX_TEXT_BYTES = 8 << 10;
const MAX_ITEMS = 200;

/** Returns a session as JSON. Long texts are shortened in the middle, long lists at the end. */
function sessionJson({ hints, error, ...info }: SessionInfo): string {
  // Next steps in the words of the library would name methods, and steps carry arguments that are not for a model.
  const forModels = { ...info, hints: hintsForModel(hints), error: error && forModel(error) };
  return JSON.stringify(
    forModels,
    (_, value: unknown) => {
      if (typeof value === "string") return truncateMiddle(value, { maxBytes: MAX_TEXT_BYTES }).text;
      if (!Array.isArray(value) || JSON.stringify(value).length <= MAX_TEXT_BYTES) return value;
      return [...shortened(value), `[… ${value.length} in total]`];
    },
    2,
  );
}

function shortened(list: unknown[]): unknown[] {
  const most = Math.floor(MAX_TEXT_BYTES / MAX_ITEMS);
  const cut = (value: unknown) => (typeof value === "string" ? truncateMiddle(value, { maxBytes: most }).text : value);
  return list.slice(0, MAX_ITEMS).map(cut);
}

/** Sessions per page. Each has two or three resources. */
const PAGE = 50;
/** Maximum number of sessions listed over all pages. */
const MAX_LISTED = 1000;

/** Lists the agent's own sessions, newest first. The cursor is the number of sessions on earlier pages. */
export async function listResources(
  agentContext: AgentContext,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const from = cursor === undefined ? 0 : Number(/^\d{1,4}$/.test(cursor) ? cursor : Number.NaN);
  if (Number.isNaN(from)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor.");
  const gateway = await agentContext.gateway();
  const sessions = gateway.list({ agent: agentContext.options.agent, limit: Math.min(MAX_LISTED, from + PAGE + 1) });
  const page = sessions.slice(from, from + PAGE);
  const next = sessions.length > from + PAGE ? { nextCursor: String(from + PAGE) } : {};
  return { resources: page.flatMap(resourcesOf), ...next };
}

function resourcesOf(info: SessionInfo): Resource[] {
  const { about, output, screen } = resourceTexts(info);
  const lastModified = info.endedAt ?? info.startedAt;
  return [
    {
      uri: sessionUri(info.id),
      name: info.name,
      mimeType: "application/json",
      ...about,
      annotations: { lastModified },
    },
    { uri: sessionUri(info.id, "output"), name: `${info.name}/output`, mimeType: "text/plain", ...output },
    ...(info.pty
      ? [{ uri: sessionUri(info.id, "screen"), name: `${info.name}/screen`, mimeType: "text/plain", ...screen }]
      : []),
  ];
}

export function listTemplates(): ListResourceTemplatesResult {
  const { session, log, screen } = templateTexts();
  return {
    resourceTemplates: [
      { uriTemplate: "sallyport://session/{id}", name: "session", mimeType: "application/json", ...session },
      ...LOGS.map((part) => ({
        uriTemplate: `sallyport://session/{id}/${part}{?offset,limit}`,
        name: part,
        mimeType: "text/plain",
        ...log(part),
      })),
      { uriTemplate: "sallyport://session/{id}/screen", name: "screen", mimeType: "text/plain", ...screen },
    ],
  };
}

/** Reads a session or a part of its output. The size of the result is bounded (invariant 6). */
export async function readResource(agentContext: AgentContext, uri: string): Promise<ReadResourceResult> {
  const found = await findOwnSession(agentContext, uri);
  const { part, offset, limit } = found.address;
  if (part === null) return { contents: [{ uri, mimeType: "application/json", text: sessionJson(found.info) }] };
  if (!isLog(part)) return { contents: [{ uri, mimeType: "text/plain", text: await screenOf(found, uri) }] };
  const { text, meta } =
    offset === null && limit === null ? await readBothEnds(found, part) : await slice(found, part, offset ?? 0, limit);
  return { contents: [{ uri, mimeType: "text/plain", text, _meta: meta }] };
}

interface Reading {
  text: string;
  meta: Record<string, number>;
}

/** Returns the screen of a session on a terminal. A session on pipes has none. */
async function screenOf({ session, info }: Found, uri: string): Promise<string> {
  if (!info.pty) throw missing(uri);
  return truncateMiddle(screenText(await session.screen()), { maxBytes: MODEL_BYTES }).text;
}

const streamOf = (part: Log) => (part === "output" ? "merged" : part);

/** Reads bytes of a log from an offset. `nextOffset` is the offset to continue at. */
async function slice({ session }: Found, part: Log, offset: number, limit: number | null): Promise<Reading> {
  const stream = streamOf(part);
  const source = await session.reading();
  const start = stream === "merged" ? offset : await characterStart(source, stream, offset);
  const page = await readPage(source, { stream, offset: start, maxBytes: MODEL_BYTES, limit: limit ?? undefined });
  const { text, next: nextOffset, total: totalBytes, droppedBytes } = page;
  return { text, meta: facts({ nextOffset, totalBytes, droppedBytes }) };
}

/** Reads the beginning and the end of a log, with a note in between that says how to read the rest. */
async function readBothEnds({ session, address }: Found, part: Log): Promise<Reading> {
  const hint = `sallyport://session/${address.id}/${part}?offset=N, where N is the number of bytes to skip`;
  const source = await session.reading();
  const ends = await readEnds(source, { stream: streamOf(part), maxBytes: MODEL_BYTES, hint });
  return { text: ends.text, meta: facts({ totalBytes: ends.total, omittedBytes: ends.omittedBytes }) };
}

function facts(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`sallyport/${name}`, value]));
}
