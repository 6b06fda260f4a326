/**
 * How much of a command's output is carried or shown, and who says so (promise 6: everything shown to a model is
 * capped). Bytes are of UTF-8.
 */

/** Of each stream in a library result; a foreground command's caller may want to parse all of it. */
export const RESULT_BYTES = 1 << 20;

/** For a model when nothing else is said: some 25,000 tokens of dense output, over which one MCP host refuses a result. */
export const MODEL_BYTES = 64 << 10;

/** `runner` (process-runner): each of stdout and stderr, which it names without a cap; two of them fit a model. */
export const RUNNER_STREAM_BYTES = MODEL_BYTES / 2;

/** `process` (process capabilities): `stdout_lines` defaults to the last 100 lines, and stderr goes with it. */
export const SUMMARY_LINES = 100;
/** The lines are counted, not measured: a hundred long ones must not go past what a model takes. */
export const SUMMARY_BYTES = MODEL_BYTES / 2;

/** `shell` (multi-mode execution): `aggregated`, the size its best known implementation settled on. */
export const AGGREGATED_BYTES = 200_000;
/** `shell`: `tail`, for notifications, from the same source. */
export const TAIL_BYTES = 2_000;

/** `bash` (Bash tool): merged output of a foreground command is capped at 100 KiB. */
export const BASH_OUTPUT_BYTES = 100 << 10;
/** `bash`: what BashOutput may give at once of each stream of a background command. */
export const BASH_BACKGROUND_BYTES = 1 << 20;

/** Of a command that a result repeats: it is known to whoever asked for it, and the audit has it whole. */
export const COMMAND_BYTES = 4096;
/** The same in a list or a status. */
export const LISTED_COMMAND_BYTES = 500;

/** Of a name that a caller chose and a message repeats: a program's name can be two megabytes long. */
export const NAME_LENGTH = 200;
