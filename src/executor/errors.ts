import { SallyportError } from "../core/error.ts";

/** The output is safe on disk: only this process cannot look at it now. */
export function outOfDescriptors(path: string): SallyportError {
  const message = `${path} cannot be read now: too many files are open.`;
  return new SallyportError("ResourceLimitExceeded", message, [
    { action: "increase_limits", hint: "Raise ulimit -n for this process, or follow fewer sessions at a time." },
    { action: "retry", hint: "Try again: the output is kept." },
  ]);
}
