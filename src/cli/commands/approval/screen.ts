/** The live list of what waits for a person: the list above, the selected request below, keys at the bottom. */
import { styleText } from "node:util";
import { type ApprovalLines, alwaysText } from "../../../approval/render.ts";
import type { Approval } from "../../../core/approval.ts";
import { counted } from "../../../text/counted.ts";
import { shownLine } from "../../../text/shown-text.ts";
import { alignedTable } from "../../../text/table.ts";
import { fit } from "../../../text/width.ts";
import { wrap } from "../../../text/wrap.ts";
import { approvalColumns } from "./columns.ts";

interface ScreenState {
  waiting: Approval[];
  selected: Approval | null;
  details: ApprovalLines | null;
  /** First line of the details that is shown. */
  top: number;
  entry: { for: "reason" | "expiry"; text: string } | null;
  message: string;
}

export interface ScreenSize {
  columns: number;
  rows: number;
  color: boolean;
  nowMs: number;
}

const MOST_LISTED = 8;

/** How many lines of the request fit, whatever else is on the screen. */
export function detailRoom(state: Pick<ScreenState, "waiting" | "selected" | "entry">, size: ScreenSize): number {
  const listed = Math.min(state.waiting.length, MOST_LISTED);
  return Math.max(3, size.rows - listed - 4 - footer({ ...state, details: null, top: 0, message: "" }, size).length);
}

/** Lines from the top of the screen; never more than it has. */
export function screenLines(state: ScreenState, size: ScreenSize): string[] {
  const dim = (text: string) => (size.color ? styleText("dim", text, { validateStream: false }) : text);
  const room = detailRoom(state, size);
  const lines = state.details ? [...state.details.command, ...state.details.rest] : ["j or k chooses one."];
  const below = lines.length - state.top - room;
  return [
    state.waiting.length === 0 ? "Nothing waits for a decision." : `${state.waiting.length} waiting for a decision`,
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
    return [...note, `Deny. Reason for the agent (enter to send, esc to go back): ${shownLine(entry.text)}`];
  if (entry?.for === "expiry" && selected) {
    const { agent, always } = selected.request;
    const grant = wrap(`This ${alwaysText(always)}, whenever ${agent} asks, without a question.`, size.columns);
    return [...note, ...grant, `For how long? (30m, 8h, 7d; enter for good, esc to go back): ${shownLine(entry.text)}`];
  }
  return [...note, fit(keysFor(selected), size.columns)];
}

/** Only those that would do something. */
function keysFor(selected: Approval | null): string {
  const answers = selected ? ["o once", ...(selected.request.always.ok ? ["a always"] : []), "d deny"] : [];
  return [...answers, "j/k move", "space/b scroll", "q quit"].join("   ");
}
