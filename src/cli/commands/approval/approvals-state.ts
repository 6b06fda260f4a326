/** The state of the live list and its transitions, without any terminal I/O. */
import type { Approval, ApprovalDecision } from "../../../core/approval.ts";
import { parseDuration } from "../../../text/format.ts";
import type { Key } from "../../terminal/full-screen.ts";

export interface ApprovalsState {
  /** Oldest first. */
  waiting: Approval[];
  /** An ID and not an index, so that a change of the list never selects another request. */
  selected: string | null;
  /** The first visible line of the request. */
  top: number;
  /** The number of lines of the request that have been visible. */
  seenTo: number;
  /** The text being entered, if any. */
  entry: { for: "reason" | "expiry"; text: string } | null;
  message: string;
}

export interface Shown {
  /** Lines of the selected request. */
  lines: number;
  /** Lines of its command, input and variables. */
  commandLines: number;
  /** Lines of the request that fit on the screen. */
  room: number;
}

export type Effect = { decide: Omit<ApprovalDecision, "who" | "channel"> } | "quit" | null;

export const EMPTY_STATE: ApprovalsState = { waiting: [], selected: null, top: 0, seenTo: 0, entry: null, message: "" };

/**
 * Updates the list. If the selected request is no longer pending, clears the selection, so that a key press does not
 * affect another request.
 */
export function refresh(state: ApprovalsState, waiting: Approval[]): ApprovalsState {
  if (state.selected !== null && !waiting.some(({ id }) => id === state.selected)) {
    const message = state.message || "The selected request was decided elsewhere or has expired.";
    return { ...state, waiting, selected: null, top: 0, seenTo: 0, entry: null, message };
  }
  const first = state.waiting.length === 0 && state.selected === null ? (waiting[0]?.id ?? null) : state.selected;
  return { ...state, waiting, selected: first };
}

export function press(state: ApprovalsState, key: Key, view: Shown): { state: ApprovalsState; effect: Effect } {
  if (key.kind === "interrupt") return { state, effect: "quit" };
  if (state.entry) return typing(state, state.entry, key);
  const quiet = { ...state, message: "" };
  const pressed = key.kind === "text" ? key.text : key.kind;
  switch (pressed) {
    case "q":
      return { state, effect: "quit" };
    case "j":
    case "down":
      return still(select(quiet, 1));
    case "k":
    case "up":
      return still(select(quiet, -1));
    case " ":
    case "page-down":
      return still({ ...quiet, top: Math.max(0, Math.min(state.top + view.room, view.lines - view.room)) });
    case "b":
    case "page-up":
      return still({ ...quiet, top: Math.max(0, state.top - view.room) });
    case "d":
      return still(state.selected === null ? state : { ...quiet, entry: { for: "reason", text: "" } });
    case "o":
    case "a":
      return yes(quiet, pressed, view);
    default:
      return still(quiet);
  }
}

function still(state: ApprovalsState): { state: ApprovalsState; effect: Effect } {
  return { state, effect: null };
}

function select(state: ApprovalsState, step: number): ApprovalsState {
  const at = state.waiting.findIndex(({ id }) => id === state.selected);
  const to = at < 0 ? 0 : Math.min(Math.max(at + step, 0), state.waiting.length - 1);
  const selected = state.waiting[to]?.id ?? null;
  return selected === state.selected ? state : { ...state, selected, top: 0, seenTo: 0 };
}

/** Accepts an approval only after the whole command, with its input and variables, has been visible (invariant 2). */
function yes(state: ApprovalsState, pressed: "o" | "a", view: Shown): { state: ApprovalsState; effect: Effect } {
  const chosen = state.waiting.find(({ id }) => id === state.selected);
  if (!chosen) return still(state);
  if (state.seenTo < view.commandLines) {
    return still({ ...state, message: "The command continues below. Press space to see all of it first." });
  }
  if (pressed === "o") return { state, effect: { decide: { decision: "once" } } };
  const { always } = chosen.request;
  if (!always.ok) return still({ ...state, message: `This command cannot be approved permanently: ${always.why}.` });
  return still({ ...state, entry: { for: "expiry", text: "" } });
}

function typing(
  state: ApprovalsState,
  entry: NonNullable<ApprovalsState["entry"]>,
  key: Key,
): { state: ApprovalsState; effect: Effect } {
  const write = (text: string) => still({ ...state, message: "", entry: { ...entry, text } });
  if (key.kind === "escape") return still({ ...state, entry: null, message: "" });
  if (key.kind === "erase") return write([...entry.text].slice(0, -1).join(""));
  if (key.kind === "text") return write(entry.text + key.text);
  if (key.kind !== "enter") return still(state);
  const closed = { ...state, entry: null, message: "" };
  if (entry.for === "reason") {
    return { state: closed, effect: { decide: { decision: "deny", ...(entry.text ? { reason: entry.text } : {}) } } };
  }
  const expiresMs = entry.text === "" ? undefined : (parseDuration(entry.text) ?? 0);
  if (expiresMs === 0)
    return still({
      ...state,
      message: "Not a duration. Enter a value such as 30m, 8h or 7d, or nothing for no limit.",
    });
  return { state: closed, effect: { decide: { decision: "always", grant: expiresMs ? { expiresMs } : {} } } };
}
