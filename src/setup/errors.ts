import { SallyportError } from "../core/error.ts";
import { FormatError } from "./edit/format-error.ts";

/** The file cannot be read, or its content cannot be edited. Nothing has been written. */
export function unusableFile(path: string, why: string, hint: string): SallyportError {
  return new SallyportError("InvalidConfiguration", `${path}: ${why}.`, [{ action: "fix_file", hint }]);
}

/** Turns an error in the text of a file into one that names the file. Other errors are returned unchanged. */
export function inFile(path: string, error: unknown): unknown {
  if (!(error instanceof FormatError)) return error;
  return unusableFile(
    `${path}:${error.line}`,
    error.message,
    "Correct the file and try again, or add the entry that `sallyport setup HOST --print` prints by hand.",
  );
}
