/** How the commands of a host reach Sallyport: as tools of a server, through a hook of the host, or through its shell. */
export const MODES = ["mcp", "hook", "shell"] as const;
export type Mode = (typeof MODES)[number];
