import type { SessionHandle } from "../../../core/gateway.ts";
import type { Io } from "../../command.ts";
import type { UsageRow } from "../../tables/usage.ts";
import { fullScreen } from "../../terminal/full-screen.ts";
import type { Key } from "../../terminal/keys.ts";
import { UsageMeter } from "../../usage-meter.ts";
import { inOrder, USAGE_ORDERS, type UsageOrder, type UsageView, usageRoom, usageScreen } from "../../usage-screen.ts";

/** A key asks for the screen, not for a measurement over a few milliseconds. */
const MEASURE_MS = 500;

const STEPS: Partial<Record<string, (room: number) => number>> = {
  j: () => 1,
  down: () => 1,
  k: () => -1,
  up: () => -1,
  " ": (room) => room,
  "page-down": (room) => room,
  b: (room) => -room,
  "page-up": (room) => -room,
};

/** Shows what sessions consume until the person has seen enough, or `over` says so. Resolves with the last rows. */
export async function watchUsage(
  chosen: () => SessionHandle[],
  over: (rows: UsageRow[]) => boolean,
  io: Io,
): Promise<UsageRow[]> {
  const meter = new UsageMeter();
  let view: UsageView = { rows: meter.measure(chosen()), order: "c", top: 0 };
  let measuredMs = performance.now();
  const measure = () => {
    if (performance.now() - measuredMs < MEASURE_MS) return;
    measuredMs = performance.now();
    view = within({ ...view, rows: meter.measure(chosen()) });
  };
  await fullScreen(
    {
      renew: () => {
        measure();
        return over(view.rows);
      },
      press: (key) => {
        view = within(pressed(view, key));
        return key.kind === "interrupt" || (key.kind === "text" && key.text === "q");
      },
      lines: (size) => usageScreen(view, { ...size, color: io.color }),
    },
    io,
  );
  return inOrder(view.rows, view.order);
}

function pressed(view: UsageView, key: Key): UsageView {
  const name = key.kind === "text" ? key.text : key.kind;
  if (Object.hasOwn(USAGE_ORDERS, name)) return { ...view, order: name as UsageOrder, top: 0 };
  const room = usageRoom({ rows: process.stdout.rows ?? 24 });
  return { ...view, top: view.top + (STEPS[name]?.(room) ?? 0) };
}

/** Never past the last row, also when rows went. */
function within(view: UsageView): UsageView {
  const most = view.rows.length - usageRoom({ rows: process.stdout.rows ?? 24 });
  return { ...view, top: Math.max(0, Math.min(view.top, most)) };
}
