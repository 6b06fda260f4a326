import type { LogQuery } from "../core/session.ts";
import { parseDuration } from "../text/format.ts";
import type { Invocation } from "./command.ts";
import { choiceOption, countOption, textOption } from "./options.ts";
import { UsageError } from "./usage-error.ts";

type Values = Invocation["values"];

/** What `logs`'s options select. */
export function logQuery(values: Values, nowMs: number): LogQuery {
  const query: LogQuery = { ...lineRange(values), ...since(values, nowMs) };
  const stream = choiceOption(values, "stream", ["stdout", "stderr", "merged"] as const);
  const tail = countOption(values, "tail");
  const offset = countOption(values, "offset");
  const limit = countOption(values, "limit");
  const ways = [tail !== undefined, query.fromLine !== undefined, (offset ?? limit) !== undefined];
  if (ways.filter(Boolean).length > 1) {
    throw new UsageError("`--tail`, `--lines` and `--offset`/`--limit` are three ways to say which part; give one");
  }
  return {
    ...query,
    ...(stream ? { stream } : {}),
    ...(tail === undefined ? {} : { tail }),
    ...(offset === undefined ? {} : { offset }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** `A:B`, `A:`, `:B`, counted from 1, both ends included; or `-N:`, the last N. */
function lineRange(values: Values): Pick<LogQuery, "fromLine" | "toLine"> {
  const text = textOption(values, "lines");
  if (text === undefined) return {};
  const [, last, first, to] = /^(?:(-[1-9]\d*):|([1-9]\d*)?:([1-9]\d*)?)$/.exec(text) ?? [];
  const from = last ?? first;
  if (from === undefined && to === undefined) {
    throw new UsageError(`\`--lines\` must be a range such as 10:20, 10:, :20 or -20:; received \`${text}\``);
  }
  return { fromLine: Number(from ?? 1), ...(to === undefined ? {} : { toLine: Number(to) }) };
}

function since(values: Values, nowMs: number): Pick<LogQuery, "sinceMs"> {
  const text = textOption(values, "since");
  if (text === undefined) return {};
  const ago = parseDuration(text);
  const sinceMs = ago === null ? Date.parse(text) : nowMs - ago;
  if (Number.isNaN(sinceMs)) {
    throw new UsageError(
      `\`--since\` must be a duration such as 5m, or a time such as 2026-11-15T03:00:00Z; received \`${text}\``,
    );
  }
  return { sinceMs };
}
