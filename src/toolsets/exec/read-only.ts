import { LOOKS } from "../annotations.ts";
import { tool } from "../define.ts";
import { permissionOf } from "./approval.ts";
import { listSessions, logOfSession, pollSession } from "./look.ts";
import { ListInput, ListResult, LogInput, LogResult, POLL_LINES, PollInput, PollResult } from "./schema.ts";

const meta = { category: "process" };

export const processList = tool({
  name: "process_list",
  title: "List sessions",
  description: "Sessions of this agent, newest first, with status and exit code. Needs no approval.",
  input: ListInput,
  output: ListResult,
  annotations: LOOKS,
  meta,
  operation: "list",
  permission: permissionOf("process_list"),
  handle: async ({ limit }, { gateway }) => listSessions(gateway, limit),
});

export const processPoll = tool({
  name: "process_poll",
  title: "Check a session",
  description: `Whether a session still runs, its exit code once it has ended, and its last ${POLL_LINES} lines. Needs no approval.`,
  input: PollInput,
  output: PollResult,
  annotations: LOOKS,
  meta,
  operation: "read",
  permission: permissionOf("process_poll"),
  handle: async ({ session_id }, { gateway }) => pollSession(await gateway.find(session_id)),
});

export const processLog = tool({
  name: "process_log",
  title: "Read a session's log",
  description:
    "A slice of lines of a session's output and how many there are in all. Go on at next_offset; a negative offset counts from the end. At most 64 KiB at a time. Needs no approval.",
  input: LogInput,
  output: LogResult,
  annotations: LOOKS,
  meta,
  operation: "read",
  permission: permissionOf("process_log"),
  handle: async ({ session_id, offset, limit }, { gateway }) =>
    logOfSession(await gateway.find(session_id), offset, limit),
});
