import type { z } from "zod";
import type { Session } from "../../session/session.ts";
import { RUNS } from "../annotations.ts";
import { type Answer, type Call, tool } from "../define.ts";
import { missingArgument } from "../exec/text.ts";
import { extend, kill, remove, write } from "./act.ts";
import { list, log, poll } from "./look.ts";
import { ProcessInput, ProcessResult } from "./schema.ts";
import { enter, paste, resize, screen, sendKeys, wait } from "./terminal.ts";

type Args = z.output<typeof ProcessInput>;
type Action = (session: Session, args: Args, call: Call) => Promise<Answer>;

export const processTool = tool({
  name: "process",
  title: "Manage sessions",
  description:
    "Follow and steer sessions that exec started. list; poll (output since the last poll, and state); log (lines; the last ones unless offset is given); wait (for exit, a pattern, quiet, or until it waits for input: better than polling); write (text to its input, eof closes it); for terminals: send-keys, submit (text and Enter), paste, screen (what a person would see), resize; extend (the deadline); kill; clear (forget one that has ended); remove (end and forget).",
  input: ProcessInput,
  output: ProcessResult,
  annotations: RUNS,
  operation: "write",
  async handle(args, call) {
    const answer = await act(args, call);
    return { ...answer, structured: { action: args.action, ...answer.structured } };
  },
});

async function act(args: Args, call: Call): Promise<Answer> {
  const { action, session_id } = args;
  if (action === "list") return list(call, args.limit);
  const name = [...(session_id === undefined ? ["session_id"] : []), ...(NEEDS[action] ?? [])].find(
    (needed) => args[needed as keyof Args] === undefined,
  );
  if (name !== undefined || session_id === undefined) return missing(action, name ?? "session_id");
  return DO[action](await call.gateway.find(session_id), args, call);
}

/** What an action cannot do without. */
const NEEDS: Partial<Record<Args["action"], readonly (keyof Args)[]>> = {
  "send-keys": ["keys"],
  paste: ["data"],
  extend: ["timeout"],
  resize: ["columns", "rows"],
};

const DO: Record<Exclude<Args["action"], "list">, Action> = {
  poll: (session, _, call) => poll(call, session),
  log: (session, { offset, limit }) => log(session, offset, limit),
  write: (session, { data, eof }) =>
    data === undefined && !eof ? Promise.resolve(missing("write", "data")) : write(session, data ?? "", eof),
  "send-keys": (session, { keys = [] }) => sendKeys(session, keys),
  submit: (session, { data = "" }) => enter(session, data),
  paste: (session, { data = "" }) => paste(session, data),
  screen: (session) => screen(session),
  wait: (session, args, call) => wait(session, args, call),
  extend: (session, { timeout = 0 }) => extend(session, timeout),
  resize: (session, { columns = 0, rows = 0 }) => resize(session, { columns, rows }),
  kill: (session, { signal }) => kill(session, signal),
  clear: (session) => remove(session, false),
  remove: (session) => remove(session, true),
};

function missing(action: string, name: string): Answer {
  return { structured: {}, failure: missingArgument(action, name) };
}
