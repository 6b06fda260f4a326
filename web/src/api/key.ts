/**
 * The half of the page's secret that is not in its cookie. Cookies know no ports: a server of an agent on another port of
 * this machine would be sent them; what is stored here only this origin can read.
 */
const NAME = "sallyport-key";

export const KEY_HEADER = "x-sallyport-key";
/** Next to the key, as the protocols of a WebSocket, which can have no headers. */
export const SOCKET_PROTOCOL = "sallyport";

export const key = (): string => localStorage.getItem(NAME) ?? "";

export function keepKey(value: string | null): void {
  if (value === null) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, value);
}
