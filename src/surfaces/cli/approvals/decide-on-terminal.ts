/** `sallyport approvals` on a terminal: shows what waits as it comes, and takes decisions by key. */
import type { ReadStream } from "node:tty";
import type { Approvals } from "../../../approval/approvals.ts";
import { SallyportError } from "../../../contract/error.ts";
import { approvalLines } from "../../../present/approval-details.ts";
import { detailRoom, type ScreenSize, screenLines } from "../../../present/approval-screen.ts";
import type { ApprovalQuery } from "../../../store/approvals.ts";
import type { Io } from "../command.ts";
import { decider } from "./decider.ts";
import { type Desk, type Effect, EMPTY_DESK, press, refresh, type View } from "./desk.ts";
import { keysIn } from "./keys.ts";

/** Ages and expiries move on by themselves. */
const REDRAW_MS = 1000;
const MOST_WAITING = 500;
const ENTER_SCREEN = "\x1b[?1049h\x1b[?25l";
const LEAVE_SCREEN = "\x1b[?25h\x1b[?1049l";

export async function decideOnTerminal(approvals: Approvals, query: ApprovalQuery, io: Io): Promise<void> {
  const stdin = io.stdin as ReadStream;
  let desk = EMPTY_DESK;
  const load = () => {
    desk = refresh(desk, approvals.list({ ...query, limit: query.limit ?? MOST_WAITING }).reverse());
  };
  const draw = () => {
    const { lines, desk: seen } = render(desk, io);
    desk = seen;
    io.out(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J`);
  };
  const renew = () => {
    load();
    draw();
  };
  await new Promise<void>((resolve) => {
    const onKeys = (data: Buffer) => {
      for (const key of keysIn(data.toString())) {
        const { desk: next, effect } = press(desk, key, viewOf(desk, io));
        desk = next;
        if (effect === "quit") return leave();
        if (effect) desk = carryOut(approvals, desk, effect);
        renew();
      }
    };
    const stop = approvals.onChange(renew);
    const timer = setInterval(renew, REDRAW_MS);
    const leave = () => {
      clearInterval(timer);
      stop();
      stdin.off("data", onKeys).setRawMode(false).pause();
      for (const signal of ["SIGTERM", "SIGHUP"] as const) process.off(signal, leave);
      process.stdout.off("resize", draw);
      io.out(LEAVE_SCREEN);
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, leave);
    process.stdout.on("resize", draw);
    stdin.setRawMode(true).resume().on("data", onKeys).once("end", leave);
    io.out(ENTER_SCREEN);
    renew();
  });
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

function viewOf(desk: Desk, io: Io): View {
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
