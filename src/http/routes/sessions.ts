import * as z from "zod";
import { RunRequest } from "../../core/request.ts";
import { SessionSchema, Status } from "../../core/session-schema.ts";
import { gatewayOf } from "../guard/authenticate.ts";
import { OPERATORS_AND_AGENT, type Operation, operation, READERS_AND_AGENT } from "../operation.ts";
import { count, flag, RecordedVerdict, RunResultSchema, shortText, waitTime } from "../schemas.ts";

const MAX_LISTED = 1000;
/** A person answers within this time, or the answer is `pending`: ask again with the same request. */
const APPROVAL_TIMEOUT_MS = 30_000;
/** `stdin: { text }` may be 8 MiB, and JSON writes some characters with six. */
const MAX_RUN_BODY = 50 << 20;

const runOptions = {
  background: z.boolean().optional().describe("Answer as soon as it has started"),
  yieldMs: waitTime.optional().describe("Carry on in the background after so long; the answer is `running`"),
  approvalTimeoutMs: waitTime
    .optional()
    .describe(`How long to wait for a person's approval; default ${APPROVAL_TIMEOUT_MS}`),
  agent: shortText(128).min(1).optional().describe("On whose behalf; for persons only"),
};

export const sessionOperations: readonly Operation[] = [
  operation({
    method: "GET",
    path: "/v1/sessions",
    id: "listSessions",
    summary: "Sessions, the newest first",
    roles: READERS_AND_AGENT,
    query: z.strictObject({
      status: z
        .string()
        .max(200)
        .transform((text) => text.split(","))
        .pipe(z.array(Status))
        .optional()
        .meta({ type: "string", description: "One or several, with commas between" }),
      agent: shortText(128).optional(),
      live: flag().optional(),
      limit: count(MAX_LISTED).optional(),
      before: shortText(64).optional(),
      q: shortText().optional(),
      others: flag().optional().describe("Only what other gateways of the fleet have run"),
    }),
    response: z.object({
      sessions: z.array(SessionSchema),
      next: z.string().nullable(),
      total: z.int().describe("All that match, these and what comes after them"),
      fleet: z.boolean().describe("Other gateways' sessions are among them"),
      warnings: z.array(z.string()).describe("What may be missing: workers that gave no answer"),
    }),
    handle: ({ gateway, query: { q, limit = 100, ...rest } }) =>
      gateway.sessions({ ...rest, limit, ...(q ? { text: q } : {}) }),
  }),
  operation({
    method: "POST",
    path: "/v1/sessions",
    id: "run",
    summary: "Run a command, in the foreground or as a background session",
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
    summary: "Everything known about a session",
    roles: READERS_AND_AGENT,
    response: SessionSchema.extend({
      verdict: RecordedVerdict.nullable(),
      approval: z.looseObject({}).nullable(),
    }).meta({ id: "SessionDetails" }),
    handle: async ({ gateway, params }) => {
      const session = await gateway.find(params.id ?? "");
      const [entry] = gateway.audit.search({ session: session.id, kind: "run", limit: 1 });
      const { verdict, rules, programs, approval } = (entry?.detail ?? {}) as Recorded;
      const judged = verdict === undefined ? null : { verdict, rules: rules ?? [], programs: programs ?? [] };
      return { ...session.info(), verdict: judged, approval: approval ? found(gateway, approval) : null };
    },
  }),
];

interface Recorded {
  verdict?: string;
  rules?: string[];
  programs?: string[];
  approval?: string;
}

/** Settled ones are forgotten after a while. */
function found({ approvals }: { approvals: { get(id: string): unknown } }, id: string): unknown {
  try {
    return approvals.get(id);
  } catch {
    return null;
  }
}
