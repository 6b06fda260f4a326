export { followLog, type LogWake } from "./follow.ts";
export { readMergedSync } from "./merged-text-sync.ts";
export { DEFAULT_LIMIT, MAX_LIMIT, readLog } from "./read.ts";
export { streamInfo } from "./stream-info.ts";
export { streamLog } from "./stream-log.ts";
export { DEFAULT_TEXT_BYTES, type LogText } from "./text.ts";
export { readTextSync } from "./text-sync.ts";
