/** Minimum size of a piece that is sent, except for the last one. */
const PIECE_BYTES = 64 << 10;

/** Creates a response that is produced as the client reads it, in bounded memory, until the client disconnects. */
export function streamResponse(
  pieces: AsyncIterable<Uint8Array | string> | Iterable<string>,
  headers: Record<string, string>,
): Response {
  const iterator = iteratorOf(pieces);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const gathered: Buffer[] = [];
      for (let bytes = 0; bytes < PIECE_BYTES; ) {
        const { done, value } = await iterator.next();
        if (done) {
          if (gathered.length > 0) controller.enqueue(Buffer.concat(gathered));
          controller.close();
          return;
        }
        const piece = Buffer.from(value as Uint8Array);
        gathered.push(piece);
        bytes += piece.length;
      }
      controller.enqueue(Buffer.concat(gathered));
    },
    async cancel() {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers });
}

type Pieces = { next(): Promise<IteratorResult<Uint8Array | string>>; return?(): Promise<unknown> };

function iteratorOf(pieces: AsyncIterable<Uint8Array | string> | Iterable<string>): Pieces {
  if (Symbol.asyncIterator in pieces) return pieces[Symbol.asyncIterator]() as Pieces;
  const iterator = pieces[Symbol.iterator]();
  return { next: async () => iterator.next(), return: async () => iterator.return?.() };
}

/** Returns headers that make a browser download the output of a command instead of displaying it as a page. */
export function attachment(name: string, type: string): Record<string, string> {
  const plain = name.replace(/[^\w.-]/g, "_");
  return { "content-type": type, "content-disposition": `attachment; filename="${plain}"` };
}
