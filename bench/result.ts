/** A measurement of Sallyport, and the measurement of a peer in the same run. */
export interface BenchResult {
  name: string;
  ours: number;
  peer: string;
  /** Null when there is no peer or it is not installed. */
  peerValue: number | null;
  unit: string;
  /** Our value divided by that of the peer. */
  ratio: number | null;
  /** The target as text. */
  target: string;
  /** Whether the target was met; null when there is no target. */
  pass: boolean | null;
}
