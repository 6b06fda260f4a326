/**
 * The half of the console's credentials that is not in its cookie. Browsers send cookies to every port of a host, so an
 * agent's server on another port would receive them. Local storage can only be read by this origin.
 */
const NAME = "sallyport-key";

export const KEY_HEADER = "x-sallyport-key";
/** The WebSocket subprotocol that is offered together with the key, because a WebSocket cannot send headers. */
export const SOCKET_PROTOCOL = "sallyport";

export const key = (): string => localStorage.getItem(NAME) ?? "";

export function keepKey(value: string | null): void {
  if (value === null) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, value);
}
