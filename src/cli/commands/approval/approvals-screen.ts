/** The live list of `sallyport approvals` on a terminal. */
import { styleText } from "node:util";
import type { Approvals } from "../../../approval/approvals.ts";
import type { ApprovalLines } from "../../../approval/render.ts";
import { alwaysText, approvalLines } from "../../../approval/render.ts";
import type { Approval } from "../../../core/approval.ts";
import { SallyportError } from "../../../core/error.ts";
import type { ApprovalQuery } from "../../../storage/approvals.ts";
import { counted } from "../../../text/format.ts";
import { alignedTable } from "../../../text/table.ts";
import { shownLine } from "../../../text/visible.ts";
import { fit, wrap } from "../../../text/width.ts";
import type { Io } from "../../command.ts";
import { localUser } from "../../person.ts";
import { fullScreen, type View } from "../../terminal/full-screen.ts";
import { type ApprovalsState, type Effect, EMPTY_STATE, press, refresh, type Shown } from "./approvals-state.ts";
import { approvalColumns } from "./columns.ts";

const MOST_WAITING = 500;

/** How long a request must have been shown, without another key, before a key can approve it. */
const SETTLED_MS = 300;

/** The live list within another program's terminal. */
export interface WithinSession {
  /** Throws unless a person uses this terminal. */
  assertAttended: () => void;
  prepare: string;
  restore: string;
}

/**
 * Shows the live list until it is closed. Within a session, keys that were typed before a request was shown do not
 * decide on it, and the list closes after the last decision.
 */
export async function showApprovals(
  approvals: Approvals,
  query: ApprovalQuery,
  io: Io,
  within: WithinSession | null = null,
): Promise<void> {
  let state = EMPTY_STATE;
  let shown = { subject: "", sinceMs: 0 };
  const view: View = {
    renew: () => {
      state = refresh(state, approvals.list({ ...query, limit: query.limit ?? MOST_WAITING }).reverse());
      return false;
    },
    press: (key, { alone, quietMs }) => {
      const { state: next, effect } = press(state, key, shownOf(state, sizeOf(io, within !== null)));
      const isSettled = alone && Math.min(quietMs, performance.now() - shown.sinceMs) >= SETTLED_MS;
      if (within && !isSettled && startsDecision(state, next, effect)) {
        state = { ...state, message: "That key was typed before the request was shown long enough. Press it again." };
        return false;
      }
      state = next;
      if (!effect || effect === "quit") return effect === "quit";
      const isAllowed = effect.decide.decision === "deny" ? () => {} : within?.assertAttended;
      state = applyDecision(approvals, state, effect, isAllowed);
      return within !== null && approvals.list({ ...query, limit: 1 }).length === 0;
    },
    lines: () => {
      const { lines, state: seen } = render(state, sizeOf(io, within !== null));
      state = seen;
      const subject = `${state.selected} ${state.entry?.for}`;
      if (subject !== shown.subject) shown = { subject, sinceMs: performance.now() };
      return lines;
    },
  };
  const { prepare = "", restore = "" } = within ?? {};
  await fullScreen(view, io, { onChange: (look) => approvals.onChange(look), prepare, restore });
}

/** Reports whether a key decides on a request, or begins to. */
function startsDecision(before: ApprovalsState, after: ApprovalsState, effect: Effect): boolean {
  return (effect !== null && effect !== "quit") || (after.entry !== null && before.entry === null);
}

/** Records a decision. If it is rejected, for example because it is too late, the state carries the message. */
function applyDecision(
  approvals: Approvals,
  state: ApprovalsState,
  effect: Exclude<Effect, null | "quit">,
  assertAllowed: () => void = () => {},
): ApprovalsState {
  if (state.selected === null) return state;
  try {
    assertAllowed();
    const { status } = approvals.decide(state.selected, { ...effect.decide, ...localUser() });
    const message =
      status === "pending"
        ? "Your decision has been recorded. Other approvers still have to decide."
        : `Request ${status}.`;
    const at = state.waiting.findIndex(({ id }) => id === state.selected);
    const next = state.waiting[at + 1] ?? state.waiting[at - 1];
    return { ...state, message, selected: next?.id ?? null, top: 0, seenTo: 0 };
  } catch (error) {
    if (error instanceof SallyportError) return { ...state, message: error.message };
    throw error;
  }
}

function sizeOf(io: Io, within: boolean): ScreenSize {
  const { columns = io.columns, rows = 24 } = process.stdout;
  return { columns, rows, color: io.color, nowMs: Date.now(), within };
}

function shownPart(state: ApprovalsState, size: ScreenSize) {
  const selected = state.waiting.find(({ id }) => id === state.selected) ?? null;
  const details = selected ? approvalLines(selected, size) : null;
  return { selected, details, room: detailRoom({ ...state, selected }, size) };
}

function shownOf(state: ApprovalsState, size: ScreenSize): Shown {
  const { details, room } = shownPart(state, size);
  const commandLines = details?.command.length ?? 0;
  return { lines: commandLines + (details?.rest.length ?? 0), commandLines, room };
}

function render(state: ApprovalsState, size: ScreenSize): { lines: string[]; state: ApprovalsState } {
  const { selected, details, room } = shownPart(state, size);
  const lines = screenLines({ ...state, selected, details }, size);
  return { lines, state: selected ? { ...state, seenTo: Math.max(state.seenTo, state.top + room) } : state };
}

interface ScreenState {
  waiting: Approval[];
  selected: Approval | null;
  details: ApprovalLines | null;
  /** The first visible line of the details. */
  top: number;
  entry: { for: "reason" | "expiry"; text: string } | null;
  message: string;
}

interface ScreenSize {
  columns: number;
  rows: number;
  color: boolean;
  nowMs: number;
  /** Whether the list is shown within a session. */
  within: boolean;
}

const MOST_LISTED = 8;

/** Returns the number of lines of the request that fit on the screen. */
function detailRoom(state: Pick<ScreenState, "waiting" | "selected" | "entry">, size: ScreenSize): number {
  const listed = Math.min(state.waiting.length, MOST_LISTED);
  return Math.max(3, size.rows - listed - 4 - footer({ ...state, details: null, top: 0, message: "" }, size).length);
}

/** Returns the lines from the top of the screen, at most as many as it has rows. */
export function screenLines(state: ScreenState, size: ScreenSize): string[] {
  const dim = (text: string) => (size.color ? styleText("dim", text, { validateStream: false }) : text);
  const room = detailRoom(state, size);
  const lines = state.details
    ? [...state.details.command, ...state.details.rest]
    : ["Press j or k to select a request."];
  const below = lines.length - state.top - room;
  return [
    state.waiting.length === 0 ? "No pending requests." : counted(state.waiting.length, "pending request"),
    ...listLines(state, size),
    dim("─".repeat(Math.min(size.columns, 100))),
    ...(state.waiting.length > 0 ? lines.slice(state.top, state.top + room) : []),
    state.waiting.length > 0 && below > 0 ? dim(`… ${counted(below, "more line")} below`) : "",
    ...footer(state, size),
  ].slice(0, size.rows);
}

function listLines({ waiting, selected }: ScreenState, size: ScreenSize): string[] {
  if (waiting.length === 0) return [];
  const at = Math.max(
    0,
    waiting.findIndex(({ id }) => id === selected?.id),
  );
  const from = Math.max(0, Math.min(at - MOST_LISTED + 1, waiting.length - MOST_LISTED));
  const listed = waiting.slice(from, from + MOST_LISTED);
  const columns = approvalColumns(waiting, size).filter(({ title }) => title !== "STATUS");
  const [, ...rows] = alignedTable(columns, listed, size.columns - 2)
    .trimEnd()
    .split("\n");
  const bold = (text: string) => (size.color ? styleText("bold", text, { validateStream: false }) : text);
  return rows.map((row, index) => (listed[index]?.id === selected?.id ? bold(`> ${row}`) : `  ${row}`));
}

function footer({ entry, selected, message }: ScreenState, size: ScreenSize): string[] {
  const note = message === "" ? [] : [fit(shownLine(message), size.columns)];
  if (entry?.for === "reason")
    return [...note, `Reason to give to the agent (Enter to deny, Esc to cancel): ${shownLine(entry.text)}`];
  if (entry?.for === "expiry" && selected) {
    const { agent, always } = selected.request;
    const grant = wrap(`This ${alwaysText(always)} for agent ${agent}, without further approval.`, size.columns);
    return [
      ...note,
      ...grant,
      `For how long? (30m, 8h, 7d; empty for no limit; Esc to cancel): ${shownLine(entry.text)}`,
    ];
  }
  return [...note, fit(keysFor(selected, size.within), size.columns)];
}

/** Returns the keys that have an effect on the selected request. */
function keysFor(selected: Approval | null, within: boolean): string {
  const answers = selected ? ["o once", ...(selected.request.always.ok ? ["a always"] : []), "d deny"] : [];
  return [...answers, "j/k move", "space/b scroll", within ? "q back to the session" : "q quit"].join("   ");
}
