/**
 * Limits on the output in results and in texts for models, and where they come from (invariant 6). Limits in bytes
 * apply to the UTF-8 encoding.
 */

/** The limit of each stream in a library result, whose caller may parse all of it. */
export const RESULT_BYTES = 1 << 20;

/** The default limit for a model: about 25,000 tokens of dense output, above which one MCP host rejects a result. */
export const MODEL_BYTES = 64 << 10;

/** `runner`: the limit of stdout and of stderr. The contract sets no limit; the two together fit in `MODEL_BYTES`. */
export const RUNNER_STREAM_BYTES = MODEL_BYTES / 2;

/** `process`: `stdout_lines` defaults to the last 100 lines; the same is used for stderr. */
export const SUMMARY_LINES = 100;
/** `process`: the limit in bytes, because 100 lines may be arbitrarily long. */
export const SUMMARY_BYTES = MODEL_BYTES / 2;

/** `shell`: the limit of `aggregated`, the same as in the most widely used implementation of the contract. */
export const AGGREGATED_BYTES = 200_000;
/** `shell`: the limit of `tail` in notifications, from the same implementation. */
export const TAIL_BYTES = 2_000;

/** `bash`: the limit of the merged output of a foreground command. */
export const BASH_OUTPUT_BYTES = 100 << 10;

/** The limit of a command repeated in a result. The caller and the session record have the full text. */
export const COMMAND_BYTES = 4096;
/** The limit of a command in a list or a status. */
export const LISTED_COMMAND_BYTES = 500;

/** The limit, in characters, of a name from a request that a message repeats. A program name can be 2 MB long. */
export const NAME_LENGTH = 200;
