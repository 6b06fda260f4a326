/** What there is to choose from in sallyport.json. Apart from its schema: many need to know, few need to check. */
export const SECURITY = ["deny", "allowlist", "full"] as const;
export const ASK = ["off", "on-miss", "always"] as const;
export const SANDBOX = ["off", "workspace-write", "read-only", "isolated"] as const;
export const NETWORK = ["on", "off"] as const;
export const SCOPE = ["workspace", "anywhere"] as const;
export const PERMISSION = ["autonomous", "notify", "ask", "deny"] as const;
export const QUORUM = ["any", "majority", "unanimous"] as const;
export const DURABILITY = ["process", "power-loss"] as const;
export const TOOLSETS = ["runner", "process", "exec", "shell", "bash"] as const;
/** What can be done through the door; tiers of permission are given per operation. */
export const OPERATIONS = ["run", "write", "kill", "extend", "remove", "list", "read"] as const;
