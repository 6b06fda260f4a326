/** The pending approvals of an agent, on a terminal that is attached to one of its sessions. */
import type { Approvals } from "../../approval/approvals.ts";
import type { ApprovalQuery } from "../../storage/approvals.ts";
import type { Io } from "../command.ts";

/** Requests that are looked for. One is enough to announce it, and few others can arrive at once. */
const MOST_ANNOUNCED = 20;

const BELL = "\x07";
/** Saves the title of the window and sets another one. Terminals without a stack of titles keep the other one. */
const ANNOUNCE = "\x1b[22;2t\x1b]2;Approval required: press C-p C-r\x07";
const WITHDRAW = "\x1b[23;2t";

/**
 * Undoes what a program can have done to the terminal that would hide or change text (invariant 2): modes, margins and
 * character sets, which the soft reset does not end in all terminals, reverse video, and the palette.
 */
const MODES = "\x1b[!p\x1b[?5;6;69l\x1b[4;20l\x1b[?7h\x1b[r\x1b%G\x1b(B\x0f\x1b[m\x1b[?25l";
const PALETTE = ["104", "105", "110", "111"].map((each) => `\x1b]${each}\x1b\\`).join("");
/** Pasted text is marked, so that it is not taken for keys. */
const PREPARE = `${MODES}${PALETTE}\x1b[?2004h`;
const RESTORE = "\x1b[?2004l";

export interface Announcement {
  /** Whether the title shows that there is a request. */
  isShown: () => boolean;
  stop: () => void;
}

/**
 * Rings the terminal's bell for each new request of an agent, and shows in the title that there is one. Text would be
 * mixed with the screen of the program.
 */
export function announceApprovals(approvals: Approvals, agent: string, io: Io): Announcement {
  const known = new Set<string>();
  let isAnnounced = false;
  const pending = () => {
    try {
      return approvals.list({ status: "pending", agent, limit: MOST_ANNOUNCED }).map(({ id }) => id);
    } catch {
      return [...known]; // Best effort: the database may be locked.
    }
  };
  const look = () => {
    const ids = pending();
    const isNew = ids.some((id) => !known.has(id));
    known.clear();
    for (const id of ids) known.add(id);
    if (isNew) io.out(BELL);
    if (ids.length > 0 !== isAnnounced) io.out(isAnnounced ? WITHDRAW : ANNOUNCE);
    isAnnounced = ids.length > 0;
  };
  look();
  const stop = approvals.onChange(look);
  return {
    isShown: () => isAnnounced,
    stop: () => {
      stop();
      if (isAnnounced) io.out(WITHDRAW);
    },
  };
}

/**
 * Shows the pending requests of an agent until the person closes the list. The program of the session can imitate the
 * list, but gets no key that is typed in the real one, and its output is not shown meanwhile (invariant 7).
 */
export async function reviewApprovals(approvals: Approvals, agent: string, io: Io): Promise<void> {
  const [{ showApprovals }, { assertAttended }] = await Promise.all([
    import("../commands/approval/approvals-screen.ts"),
    import("../../approval/attendance.ts"),
  ]);
  const query: ApprovalQuery = { status: "pending", agent };
  const within = { assertAttended: () => assertAttended(), prepare: PREPARE, restore: RESTORE };
  await showApprovals(approvals, query, io, within);
}
