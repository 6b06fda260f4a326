import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
} from "@modelcontextprotocol/server";
import type { SessionInfo } from "../../core/session.ts";
import type { Door } from "../door.ts";
import { resourceTexts, templateTexts } from "./texts.ts";
import { LOGS, sessionUri } from "./uri.ts";

/** Sessions on a page; each is two resources, or three. */
const PAGE = 50;
/** Nobody turns so many pages; `sallyport ps -a` goes further. */
const MOST_LISTED = 1000;

/** The agent's own sessions, newest first. A cursor is how many were listed before. */
export async function listResources(door: Door, cursor: string | undefined): Promise<ListResourcesResult> {
  const from = cursor === undefined ? 0 : Number(/^\d{1,4}$/.test(cursor) ? cursor : Number.NaN);
  if (Number.isNaN(from)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no such page.");
  const gateway = await door.gateway();
  const sessions = gateway.list({ agent: door.options.agent, limit: Math.min(MOST_LISTED, from + PAGE + 1) });
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
