import { PROCESS_ERRORS } from "../../present/toolsets/process.ts";
import { renaming } from "../rename.ts";

export const rename = renaming(PROCESS_ERRORS, { cwd: "working_directory", env: "environment", timeoutMs: "timeout" });
