/**
 * The key of the sign-in. It is not in a cookie: browsers share cookies between all ports of a host, and an agent's
 * server may listen on another port. Local storage can only be accessed by this origin.
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
