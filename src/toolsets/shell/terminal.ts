import type { TerminalSize } from "../../core/terminal.ts";
import type { Session } from "../../session/session.ts";
import { regularExpression } from "../../text/pattern.ts";
import type { Answer, Call } from "../define.ts";
import { screenText, waitText } from "../texts/terminal.ts";
import { state } from "./act.ts";
import { poll } from "./look.ts";
import { outcomeOf } from "./text.ts";

export async function sendKeys(session: Session, keys: string[]): Promise<Answer> {
  await session.sendKeys(keys);
  return state(session);
}

/** The text as typed, then Enter. */
export async function enter(session: Session, text: string): Promise<Answer> {
  if (session.info().pty === null) await session.write(`${text}\n`);
  else if (text === "") await session.sendKeys(["Enter"]);
  else await session.paste(text, { submit: true });
  return state(session);
}

export async function paste(session: Session, text: string): Promise<Answer> {
  await session.paste(text);
  return state(session);
}

export async function resize(session: Session, size: TerminalSize): Promise<Answer> {
  await session.resize(size);
  return state(session);
}

export async function screen(session: Session): Promise<Answer> {
  const shown = await session.screen();
  const { columns, rows, lines, cursor, title, alternate } = shown;
  return {
    structured: { ...outcomeOf(session.info()), screen: { columns, rows, lines, cursor, title, alternate } },
    text: screenText(shown),
  };
}

interface Conditions {
  pattern?: string | undefined;
  quietMs?: number | undefined;
  input: boolean;
  timeoutMs: number;
}

/** Waits, but not longer than the caller does, and gives what is new by then. */
export async function wait(session: Session, asked: Conditions, call: Call): Promise<Answer> {
  const { signal, patienceMs = Number.POSITIVE_INFINITY } = call.context;
  const { pattern, quietMs, input, timeoutMs } = asked;
  const { reason, match } = await session.waitFor({
    ...(pattern === undefined ? {} : { pattern: regularExpression(pattern, "pattern") }),
    ...(quietMs === undefined ? {} : { quietMs }),
    input,
    timeoutMs: Math.min(timeoutMs, patienceMs),
    ...(signal ? { signal } : {}),
  });
  const polled = await poll(call, session);
  return { structured: { ...polled.structured, reason, match }, text: waitText(reason, polled.text ?? "") };
}
