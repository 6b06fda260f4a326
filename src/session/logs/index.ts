export { followLog, type LogWake } from "./follow-log.ts";
export { DEFAULT_TEXT_BYTES, type LogText } from "./log-text.ts";
export { readMergedSync } from "./merged-text-sync.ts";
export { DEFAULT_LIMIT, MAX_LIMIT, readLog } from "./read-log.ts";
export { streamInfo } from "./stream-info.ts";
export { streamLog } from "./stream-log.ts";
export { readTextSync } from "./text-sync.ts";
