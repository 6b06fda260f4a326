import type { Position } from "../../../contract/changes.ts";

const WRITTEN = /^(\d{1,15})-(\d{1,15})$/;

/** A position as the `id` of an event. */
export function positionText({ audit, change }: Position): string {
  return `${audit}-${change}`;
}

/** Null: nobody here wrote that. */
export function parsePosition(text: string): Position | null {
  const [, audit, change] = WRITTEN.exec(text) ?? [];
  return audit === undefined ? null : { audit: Number(audit), change: Number(change) };
}

export function isBehind(one: Position, other: Position): boolean {
  return one.audit < other.audit || one.change < other.change;
}

export function isAhead(one: Position, other: Position): boolean {
  return one.audit > other.audit || one.change > other.change;
}
