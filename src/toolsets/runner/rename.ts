import { renaming } from "../rename.ts";

export const rename = renaming({}, { logFile: "log_file", timeoutMs: "timeout" });
