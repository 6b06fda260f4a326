import type { z } from "zod";
import type { Session } from "../../session/session.ts";
import { RUNS } from "../annotations.ts";
import { type Answer, type Call, tool } from "../define.ts";
import { endSession } from "../end-session.ts";
import { permissionOf } from "./approval.ts";
import { listSessions, logOfSession, pollSession } from "./look.ts";
import { ManagerInput, ManagerResult } from "./schema.ts";
import { missingArgument, sessionEntry } from "./text.ts";

type Args = z.output<typeof ManagerInput>;

const permission = permissionOf("process_manager");

export const processManager = tool({
  name: "process_manager",
  title: "Manage a session",
  description:
    "Act on a session: write text to its input, send-keys to its terminal (names such as Enter, C-c, Up), kill it with all it started. Also list, poll and log; for those use process_list, process_poll and process_log instead: they need no approval, this tool does.",
  input: ManagerInput,
  output: ManagerResult,
  annotations: RUNS,
  meta: { category: "process" },
  operation: "write",
  permission,
  // Whatever it is asked for: the predicate is over tools.
  tiers: { kill: permission, list: permission, read: permission },
  async handle(args, call) {
    const answer = await act(args, call);
    return { ...answer, structured: { action: args.action, ...answer.structured } };
  },
});

async function act(args: Args, call: Call): Promise<Answer> {
  const { action, session_id } = args;
  if (action === "list") return list(args, call);
  if (session_id === undefined) return missing(action, "session_id");
  const session = await call.gateway.find(session_id);
  if (action === "write") return args.data === undefined && !args.eof ? missing(action, "data") : write(session, args);
  if (action === "send-keys") return args.keys ? sendKeys(session, args.keys) : missing(action, "keys");
  if (action === "kill") return kill(session);
  await call.gateway.permit("read", session);
  // Permitted just now: not to be asked about a second time.
  const permitted = await call.root.scoped().find(session.id);
  return action === "poll" ? pollSession(permitted) : logOfSession(permitted, args.offset, args.limit);
}

async function list({ limit }: Args, { gateway }: Call): Promise<Answer> {
  await gateway.permit("list");
  return listSessions(gateway, limit);
}

async function write(session: Session, { data = "", eof }: Args): Promise<Answer> {
  if (data !== "") await session.write(data);
  if (eof) await session.closeStdin();
  return { structured: { ...sessionEntry(session.info()), written_bytes: Buffer.byteLength(data) } };
}

async function sendKeys(session: Session, keys: string[]): Promise<Answer> {
  await session.sendKeys(keys);
  return { structured: sessionEntry(session.info()) };
}

async function kill(session: Session): Promise<Answer> {
  const killed = await endSession(session);
  return { structured: { ...sessionEntry(session.info()), killed } };
}

function missing(action: string, name: string): Answer {
  return { structured: {}, failure: missingArgument(action, name) };
}
