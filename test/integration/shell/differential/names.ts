/** Programs that generated texts use, in addition to the wrappers and builtins below. */
export const standIns = ["alpha", "bravo", "carol", "delta", "eagle", "fable"] as const;
/** Stand-ins whose names are also used for functions. */
export const functionNames = ["eagle", "fable"] as const;
export const plainNames = ["alpha", "bravo", "carol", "delta"] as const;
/** Real programs on the PATH, which run other programs. */
export const wrappers = [
  "bash",
  "sh",
  "env",
  "nice",
  "timeout",
  "nohup",
  "xargs",
  "cat",
  "find",
  "flock",
  "ionice",
  "stdbuf",
  "taskset",
  "prlimit",
  "chrt",
  "setarch",
  "linux64",
  "sed",
  "awk",
  "perl",
  "split",
  "make",
  "tar",
  "sort",
  "ed",
  "dc",
  "vi",
] as const;
