/** Those that only look. */
const READ_ONLY: ReadonlySet<string> = new Set(["process_list", "process_poll", "process_log"]);

/** The predicate by which a person is asked, where the operator has not said otherwise: over tools, not arguments. */
export function needsApproval(tool: string): boolean {
  return !READ_ONLY.has(tool);
}

export function permissionOf(tool: string): "ask" | "autonomous" {
  return needsApproval(tool) ? "ask" : "autonomous";
}
