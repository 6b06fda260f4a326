import type { Change, ChangeList, Position } from "../../core/changes.ts";
import { eventText } from "./event-stream.ts";

/** A command may be megabytes long, and there may be hundreds who look on: those who want all of it ask for it. */
const LONGEST_TEXT = 4096;
const MOST_ITEMS = 100;
const MOST_APPROVAL_BYTES = 64 * 1024;

/** One event, written once for all who are to see it. */
export interface EventText {
  /** Who is to see it: persons see everything, an agent what is its own. */
  to: "everybody" | "persons" | { agent: string };
  text: string;
}

/** What changed, as events; the last one says how far the audit has come. */
export function eventTexts({ changes, position }: ChangeList, auditGrew: boolean): EventText[] {
  const events: EventText[] = changes.map((change) => ({ to: { agent: change.agent }, text: changeText(change) }));
  const sequence = { sequence: position.audit };
  if (auditGrew) events.push({ to: "persons", text: eventText("audit", sequence, positionText(position)) });
  return events;
}

function changeText(change: Change): string {
  const id = positionText(change.position);
  switch (change.type) {
    case "session":
      return eventText("session", shortened(change.session), id);
    case "approval":
      return eventText("approval", shortenedApproval(change.approval), id);
    case "removed":
      return eventText("removed", { id: change.id }, id);
  }
}

/** The same with long texts and lists cut, and a word that they were. */
function shortened<T extends object>(value: T): T & { shortened?: true } {
  let isCut = false;
  const cut = (each: unknown): unknown => {
    if (typeof each === "string" && each.length > LONGEST_TEXT) {
      isCut = true;
      return `${each.slice(0, LONGEST_TEXT).toWellFormed()}…`;
    }
    if (Array.isArray(each)) {
      if (each.length > MOST_ITEMS) isCut = true;
      return each.slice(0, MOST_ITEMS).map(cut);
    }
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, cut(inner)]));
  };
  const result = cut(value) as T;
  return isCut ? { ...result, shortened: true } : result;
}

/** What a person decides about is shown whole or not at all: a part of it could deceive (promise 2). */
function shortenedApproval<T extends { request: unknown }>(approval: T): object {
  if (JSON.stringify(approval.request).length <= MOST_APPROVAL_BYTES) return approval;
  return { ...approval, request: null, shortened: true };
}

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
