/** `HOST:PORT`, `PORT` or `[::1]:PORT`; null: it is none of these. */
export function parseListen(text: string): { host: string; port: number } | null {
  const [, host = "127.0.0.1", port] = /^(?:(\[[0-9a-fA-F:.]+\]|[^:\s]+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return null;
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

/** Whether only this machine can reach it. A name could be any address, `localhost` alone is certain. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}
