/**
 * Limits on the output in results and in texts for models, and where they come from (invariant 6). Bytes are UTF-8.
 */

/** The limit of each stream in a library result, whose caller may parse all of it. */
export const RESULT_BYTES = 1 << 20;

/** The default limit for a model: about 25,000 tokens of dense output, above which one MCP host rejects a result. */
export const MODEL_BYTES = 64 << 10;

/** `runner`: the limit of each of stdout and stderr. The contract has none; both together fit `MODEL_BYTES`. */
export const RUNNER_STREAM_BYTES = MODEL_BYTES / 2;

/** `process`: `stdout_lines` defaults to the last 100 lines; the same is used for stderr. */
export const SUMMARY_LINES = 100;
/** `process`: the limit in bytes, because 100 lines may be arbitrarily long. */
export const SUMMARY_BYTES = MODEL_BYTES / 2;

/** `shell`: the limit of `aggregated`, as in the best-known implementation. */
export const AGGREGATED_BYTES = 200_000;
/** `shell`: the limit of `tail` in notifications, from the same source. */
export const TAIL_BYTES = 2_000;

/** `bash`: the limit of the merged output of a foreground command. */
export const BASH_OUTPUT_BYTES = 100 << 10;
/** `bash`: the limit of each stream of a background command in one BashOutput result. */
export const BASH_BACKGROUND_BYTES = 1 << 20;

/** The limit of a command that a result repeats. The caller knows it, and the session record has all of it. */
export const COMMAND_BYTES = 4096;
/** The limit of a command in a list or a status. */
export const LISTED_COMMAND_BYTES = 500;

/** The limit, in characters, of a caller's name that a message repeats: a program name can be two megabytes long. */
export const NAME_LENGTH = 200;
