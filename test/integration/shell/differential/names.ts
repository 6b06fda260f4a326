/** The only programs a generated text names, besides the wrappers and builtins spelled out below. */
export const standIns = ["alpha", "bravo", "carol", "delta", "eagle", "fable"] as const;
/** Stand-ins that a function may hide; the others never name a function. */
export const functionNames = ["eagle", "fable"] as const;
export const plainNames = ["alpha", "bravo", "carol", "delta"] as const;
/** Real programs that run what they are given; the only other ones on the PATH. */
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
