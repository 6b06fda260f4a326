/** `sallyport approvals` on a terminal: shows what waits as it comes, and takes decisions by key. */
import type { Approvals } from "../../../approval/approvals.ts";
import { approvalLines } from "../../../approval/render.ts";
import { SallyportError } from "../../../core/error.ts";
import type { ApprovalQuery } from "../../../storage/approvals.ts";
import type { Io } from "../../command.ts";
import { decider } from "../../person.ts";
import { fullScreen, type View } from "../../terminal/full-screen.ts";
import { type Desk, type Effect, EMPTY_DESK, press, refresh, type Shown } from "./approvals-state.ts";
import { detailRoom, type ScreenSize, screenLines } from "./screen.ts";

const MOST_WAITING = 500;

export async function decideOnTerminal(approvals: Approvals, query: ApprovalQuery, io: Io): Promise<void> {
  let desk = EMPTY_DESK;
  const view: View = {
    renew: () => {
      desk = refresh(desk, approvals.list({ ...query, limit: query.limit ?? MOST_WAITING }).reverse());
      return false;
    },
    press: (key) => {
      const { desk: next, effect } = press(desk, key, shownOf(desk, io));
      desk = next;
      if (effect && effect !== "quit") desk = carryOut(approvals, desk, effect);
      return effect === "quit";
    },
    lines: () => {
      const { lines, desk: seen } = render(desk, io);
      desk = seen;
      return lines;
    },
  };
  await fullScreen(view, io, (look) => approvals.onChange(look));
}

/** The decision may come too late, or may not be ours: then the screen says so. */
function carryOut(approvals: Approvals, desk: Desk, effect: Exclude<Effect, null | "quit">): Desk {
  if (desk.selected === null) return desk;
  try {
    const { status } = approvals.decide(desk.selected, { ...effect.decide, ...decider() });
    const message = status === "pending" ? "Your word counts; others have to decide too." : `It is ${status}.`;
    const at = desk.waiting.findIndex(({ id }) => id === desk.selected);
    const next = desk.waiting[at + 1] ?? desk.waiting[at - 1];
    return { ...desk, message, selected: next?.id ?? null, top: 0, seenTo: 0 };
  } catch (error) {
    if (error instanceof SallyportError) return { ...desk, message: error.message };
    throw error;
  }
}

function sizeOf(io: Io): ScreenSize {
  const { columns = io.columns, rows = 24 } = process.stdout;
  return { columns, rows, color: io.color, nowMs: Date.now() };
}

function shownPart(desk: Desk, size: ScreenSize) {
  const selected = desk.waiting.find(({ id }) => id === desk.selected) ?? null;
  const details = selected ? approvalLines(selected, size) : null;
  return { selected, details, room: detailRoom({ ...desk, selected }, size) };
}

function shownOf(desk: Desk, io: Io): Shown {
  const { details, room } = shownPart(desk, sizeOf(io));
  const commandLines = details?.command.length ?? 0;
  return { lines: commandLines + (details?.rest.length ?? 0), commandLines, room };
}

function render(desk: Desk, io: Io): { lines: string[]; desk: Desk } {
  const size = sizeOf(io);
  const { selected, details, room } = shownPart(desk, size);
  const lines = screenLines({ ...desk, selected, details }, size);
  return { lines, desk: selected ? { ...desk, seenTo: Math.max(desk.seenTo, desk.top + room) } : desk };
}
