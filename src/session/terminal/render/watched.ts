import { styleText } from "node:util";
import type { Screen } from "../../../core/terminal.ts";
import { fit } from "../../../text/width.ts";

/** Which rows of a screen are shown where not all of them fit: those around its cursor. */
export function windowOnto({ rows, cursor }: Pick<Screen, "rows" | "cursor">, room: number) {
  const height = Math.max(1, Math.min(rows, room));
  const from = Math.max(0, Math.min(cursor.row - height + 1, rows - height));
  return { from, to: from + height };
}

/** Below a screen that is watched. The title was made safe when it was read. */
export function watchedFooter(name: string, { columns, rows, title }: Screen, width: number): string {
  const titled = title === "" ? "" : ` · ${title}`;
  const text = fit(` ${name} · ${columns} by ${rows}${titled} · Ctrl-C ends the watching, not the session `, width);
  return styleText("inverse", text, { validateStream: false });
}
