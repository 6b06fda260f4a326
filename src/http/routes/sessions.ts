import * as z from "zod";
import { RunRequest } from "../../core/request.ts";
import { SessionSchema, Status } from "../../core/session-schema.ts";
import { gatewayOf } from "../guard/authenticate.ts";
import { OPERATORS_AND_AGENT, type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { count, flag, RecordedVerdict, RunResultSchema, shortText, waitTime } from "../schemas.ts";

const MAX_LISTED = 1000;
/** Default time to wait for approval. After that the status is `pending`, and the client repeats the same request. */
const APPROVAL_TIMEOUT_MS = 30_000;
/** `stdin: { text }` may be 8 MiB, and JSON escapes some characters with six bytes. */
const MAX_RUN_BODY = 50 << 20;

const runOptions = {
  background: z.boolean().optional().describe("Respond as soon as the command has started"),
  yieldMs: waitTime
    .optional()
    .describe("Continue in the background after this many milliseconds; the response then has the status `running`"),
  approvalTimeoutMs: waitTime
    .optional()
    .describe(`Time to wait for approval, in milliseconds (default: ${APPROVAL_TIMEOUT_MS})`),
  agent: shortText(128).min(1).optional().describe("Run the command as this agent; not available to agents"),
};

export const sessionOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions",
    id: "listSessions",
    summary: "List sessions, newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      status: z
        .string()
        .max(200)
        .transform((text) => text.split(","))
        .pipe(z.array(Status))
        .optional()
        .meta({ type: "string", description: "Only sessions with one of these statuses, separated by commas" }),
      agent: shortText(128).optional().describe("Only sessions of this agent"),
      live: flag().optional().describe("Only sessions with running processes"),
      limit: count(MAX_LISTED).optional().describe("Maximum number of sessions (default: 100)"),
      before: shortText(64).optional().describe("Only sessions older than this one, by session ID"),
      q: shortText().optional().describe("Text to find in the session"),
      others: flag().optional().describe("Only sessions of other gateways in the fleet"),
    }),
    response: z.object({
      sessions: z.array(SessionSchema).describe("Matching sessions"),
      next: z.string().nullable().describe("Value of `before` for the next page; null at the end"),
      total: z.int().describe("Number of matching sessions on this page and all later pages"),
      fleet: z.boolean().describe("Whether sessions of other gateways are included"),
      warnings: z
        .array(z.string())
        .describe("Sessions that may be missing, such as those of workers that did not respond"),
    }),
    handle: ({ gateway, query: { q, limit = 100, ...rest } }) =>
      gateway.sessions({ ...rest, limit, ...(q ? { text: q } : {}) }),
  }),
  operation({
    method: "POST",
    path: "/v1/sessions",
    id: "run",
    summary: "Run a command in the foreground or background",
    roles: OPERATORS_AND_AGENT,
    body: RunRequest.extend(runOptions),
    checkedBody: z.looseObject(runOptions),
    maxBodyBytes: MAX_RUN_BODY,
    response: z.union([RunResultSchema, SessionSchema]),
    handle: async ({ service, caller, body, disconnected }) => {
      const { background, yieldMs, approvalTimeoutMs = APPROVAL_TIMEOUT_MS, agent, ...request } = body;
      const gateway = gatewayOf(service, caller, agent);
      const options = { approvalTimeoutMs, signal: disconnected, ...(yieldMs === undefined ? {} : { yieldMs }) };
      if (background) return (await gateway.start(request, options)).info();
      return gateway.run(request, options);
    },
  }),
  operation({
    method: "GET",
    path: "/v1/sessions/:id",
    id: "getSession",
    summary: "Get a session",
    roles: READERS_AND_AGENT,
    response: SessionSchema.extend({
      verdict: RecordedVerdict.nullable().describe("Verdict on the command"),
      approval: z.looseObject({}).nullable().describe("The approval request; null if none, or if it was deleted"),
    }).meta({ id: "SessionDetails" }),
    handle: async ({ gateway, params }) => {
      const session = await gateway.find(params.id ?? "");
      const [entry] = gateway.audit.search({ session: session.id, kind: "run", limit: 1 });
      const { verdict, rules, programs, approval } = (entry?.detail ?? {}) as Recorded;
      const recorded = verdict === undefined ? null : { verdict, rules: rules ?? [], programs: programs ?? [] };
      return { ...session.info(), verdict: recorded, approval: approval ? found(gateway, approval) : null };
    },
  }),
];

interface Recorded {
  verdict?: string;
  rules?: string[];
  programs?: string[];
  approval?: string;
}

/** Returns an approval, or null when it no longer exists: old approvals are deleted. */
function found({ approvals }: { approvals: { get(id: string): unknown } }, id: string): unknown {
  try {
    return approvals.get(id);
  } catch {
    return null;
  }
}
