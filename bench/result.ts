/** One number the README may claim, beside a peer's measured in the same run. */
export interface BenchResult {
  name: string;
  ours: number;
  peer: string;
  /** Null where the peer is not there to be measured. */
  peerValue: number | null;
  unit: string;
  /** Ours over the peer's; below 1 is less than the peer. */
  ratio: number | null;
  /** What was promised, in words. */
  bar: string;
  /** Null where nothing was promised. */
  pass: boolean | null;
}
