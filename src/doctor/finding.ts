/** What one look at the machine found. `warn`: works with less; `fail`: does not work. */
export interface Finding {
  name: string;
  status: "ok" | "warn" | "fail";
  message: string;
  /** What to do about it; null when all is well. */
  fix: string | null;
}

export interface Machine {
  /** The state folder, which need not exist yet. */
  state: string;
}

/** One look. It changes nothing on the machine, apart from a probe file it removes again. */
export type Check = (machine: Machine) => Finding | Promise<Finding>;

export function ok(name: string, message: string): Finding {
  return { name, status: "ok", message, fix: null };
}

export function warn(name: string, message: string, fix: string): Finding {
  return { name, status: "warn", message, fix };
}

export function fail(name: string, message: string, fix: string): Finding {
  return { name, status: "fail", message, fix };
}
