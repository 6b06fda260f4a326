import type { Recovery } from "../../core/error.ts";
import { sentence } from "./sentence.ts";

/** What went wrong and the best way out of it (promise 8). */
export function failureMessage({ message, recovery }: { message: string; recovery: readonly Recovery[] }): string {
  const [first] = recovery;
  return first === undefined ? sentence(message) : `${sentence(message)} ${sentence(first.hint)}`;
}
