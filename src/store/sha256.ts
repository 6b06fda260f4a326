import { hash } from "node:crypto";

/** So many are worked out here; who needs more has the time to load what does it faster. */
const FEW = 8;
let done = 0;

/** SHA-256 of a text's UTF-8, in hex. For a command line of two or three of them, loading `node:crypto` is most of it. */
export function sha256(text: string): string {
  if (done >= FEW) return hash("sha256", text);
  done++;
  return plainSha256(text);
}

/** The first 32 bits of the fractional parts of a root of the first primes, which is what the standard begins with. */
function fractions(count: number, root: (prime: number) => number): Uint32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

let constants: { start: Uint32Array; rounds: Uint32Array } | null = null;

/** FIPS 180-4, and nothing but JavaScript. */
export function plainSha256(text: string): string {
  constants ??= { start: fractions(8, Math.sqrt), rounds: fractions(64, Math.cbrt) };
  const { start, rounds } = constants;
  const state = start.slice();
  const words = new Uint32Array(64);
  const bytes = padded(Buffer.from(text));
  for (let at = 0; at < bytes.length; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = bytes.readUInt32BE(at + i * 4);
    mix(state, words, rounds);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** A one bit, zeros, and the length in bits: whole blocks of 64 bytes. */
function padded(message: Buffer): Buffer {
  const bytes = Buffer.alloc(Math.ceil((message.length + 9) / 64) * 64);
  message.copy(bytes);
  bytes[message.length] = 0x80;
  bytes.writeBigUInt64BE(BigInt(message.length) * 8n, bytes.length - 8);
  return bytes;
}

function mix(state: Uint32Array, w: Uint32Array, k: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] as number;
    const y = w[i - 2] as number;
    const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
    const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
    w[i] = (w[i - 16] as number) + s0 + (w[i - 7] as number) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const first = (h + one + ((e & f) ^ (~e & g)) + (k[i] as number) + (w[i] as number)) | 0;
    const zero = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + word;
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
