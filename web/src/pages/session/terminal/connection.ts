import { key, SOCKET_PROTOCOL } from "../../../api/key.ts";

/** A connection to the terminal of a session. */
export interface TerminalConnection {
  send(message: { type: "input"; data: string } | { type: "resize"; columns: number; rows: number }): void;
  /** Acknowledges bytes that were drawn, so that the service can send more. */
  drawn(bytes: number): void;
  close(): void;
}

export interface TerminalEvents {
  onOpen: () => void;
  onBytes: (bytes: Uint8Array) => void;
  /** Called with a message other than output: a new size, rejected input, the end of the session. */
  onMessage: (message: { type: string; [field: string]: unknown }) => void;
  /** Called when the connection has closed. `again` is true when it will be retried shortly. */
  onClose: (again: boolean) => void;
}

const RETRY_MS = 1500;
/** Close codes after which there is no retry: the session ended, or access was denied. */
const FINAL = new Set([1000, 1003, 1008, 4000, 4001, 4003, 4004]);

export function joinTerminal(id: string, events: TerminalEvents): TerminalConnection {
  let socket: WebSocket | null = null;
  let timer = 0;
  let over = false;

  function open(): void {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/v1/sessions/${encodeURIComponent(id)}/terminal`, [
      SOCKET_PROTOCOL,
      key(),
    ]);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => events.onOpen();
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") events.onMessage(JSON.parse(data));
      else events.onBytes(new Uint8Array(data as ArrayBuffer));
    };
    socket.onclose = ({ code }) => {
      if (over) return;
      const again = !FINAL.has(code);
      events.onClose(again);
      if (again) timer = window.setTimeout(open, RETRY_MS);
    };
  }

  const say = (message: object): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };
  open();
  return {
    send: say,
    drawn: (bytes) => say({ type: "ack", bytes }),
    close: () => {
      over = true;
      window.clearTimeout(timer);
      socket?.close();
    },
  };
}
