import { spawn } from "@lydell/node-pty";

/** The peer: a pty in the same process. */
export interface RawPty {
  write(data: string): void;
  /** Called with each chunk of output until the program ends. */
  onData(listener: (data: Buffer) => void): () => void;
  ended: Promise<void>;
  kill(): void;
}

export function rawPty(command: string, size = { columns: 120, rows: 30 }): RawPty {
  const pty = spawn("sh", ["-c", command], { cols: size.columns, rows: size.rows, encoding: null, env: process.env });
  return {
    write: (data) => pty.write(data),
    // Without an encoding, node-pty returns bytes, which its types do not declare.
    onData: (listener) => {
      const { dispose } = pty.onData((data) => listener(data as unknown as Buffer));
      return dispose;
    },
    ended: new Promise((resolve) => pty.onExit(() => resolve())),
    kill: () => pty.kill("SIGKILL"),
  };
}
