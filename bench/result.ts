/** One number of a bench, next to what it is measured against. */
export interface BenchResult {
  name: string;
  ours: number;
  peer: string;
  peerValue: number | null;
  unit: string;
  ratio: number | null;
  bar: string;
  pass: boolean | null;
}
