import type { Io } from "./command.ts";

/** Indented for a person, on one line for a program. */
export function printJson(value: unknown, io: Io): void {
  io.out(`${io.isTTY.stdout ? JSON.stringify(value, null, 2) : JSON.stringify(value)}\n`);
}

/** What was asked for by one id is one object; by several, an array. */
export function printOneOrMany(values: unknown[], io: Io): void {
  if (values.length > 0) printJson(values.length === 1 ? values[0] : values, io);
}
