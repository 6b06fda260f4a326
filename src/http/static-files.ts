import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { consoleNotBuilt, errorResponse } from "./errors.ts";
import { PAGE_HEADERS } from "./guard/headers.ts";
import type { Service } from "./service.ts";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};

const COMPRESSED = new Set([".html", ".js", ".css", ".svg", ".json", ".webmanifest"]);
/** Matches files whose names contain a hash of their content. The content of such a file never changes. */
const HASHED = /^assets\/.*-[\w-]{8}\.\w+$/;
/** Paths that serve the console, which keeps its routes in the fragment of the URL. */
const INDEX = new Set(["/", "/index.html", "/sign-in"]);

interface Stored {
  etag: string;
  plain: Buffer;
  gzip: Buffer | null;
  br: Buffer | null;
}

/** The built console. The relative path is the same from src/ and from dist/. */
const BUILT = fileURLToPath(new URL("../../dist/web", import.meta.url));

const pack = {
  gzip: promisify(gzip),
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }) as Promise<Buffer>,
};

/**
 * Serves the files of the console. A request can only select a file from the listing of the folder, so no path from a
 * request is ever opened. Files are read and compressed on first use.
 */
export class StaticFiles {
  readonly #service: Pick<Service, "onfailure">;
  readonly #folder: string;
  readonly #stored = new Map<string, Promise<Stored>>();
  #names: ReadonlySet<string> | null = null;

  constructor(service: Pick<Service, "onfailure">, folder = BUILT) {
    this.#service = service;
    this.#folder = folder;
  }

  /** Returns the response for a path; null when there is no such file. */
  async serve(path: string, request: IncomingMessage): Promise<Response | null> {
    const name = INDEX.has(path) ? "index.html" : path.slice(1);
    if (!this.#list().has(name)) return name === "index.html" ? errorResponse(this.#service, consoleNotBuilt()) : null;
    const stored = await this.#read(name);
    const headers: Record<string, string> = {
      ...PAGE_HEADERS,
      "content-type": TYPES[extname(name)] ?? "application/octet-stream",
      "cache-control": HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
      etag: stored.etag,
      vary: "accept-encoding",
    };
    if (request.headers["if-none-match"] === stored.etag) return new Response(null, { status: 304, headers });
    const accepted = request.headers["accept-encoding"] ?? "";
    const encoding = (["br", "gzip"] as const).find(
      (each) => stored[each] && new RegExp(`\\b${each}\\b`).test(accepted),
    );
    const bytes = (encoding && stored[encoding]) ?? stored.plain;
    if (encoding) headers["content-encoding"] = encoding;
    return new Response(new Uint8Array(bytes), { headers });
  }

  #list(): ReadonlySet<string> {
    if (this.#names) return this.#names;
    if (!existsSync(this.#folder)) return new Set(); // not cached: the console may be built later
    const entries = readdirSync(this.#folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    this.#names = new Set(files.map(({ parentPath, name }) => join(parentPath, name).slice(this.#folder.length + 1)));
    return this.#names;
  }

  #read(name: string): Promise<Stored> {
    let stored = this.#stored.get(name);
    if (!stored) {
      stored = this.#load(name);
      this.#stored.set(name, stored);
      stored.catch(() => this.#stored.delete(name));
    }
    return stored;
  }

  async #load(name: string): Promise<Stored> {
    const plain = await readFile(join(this.#folder, name));
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    if (!COMPRESSED.has(extname(name))) return { etag, plain, gzip: null, br: null };
    const [zipped, br] = await Promise.all([pack.gzip(plain), pack.br(plain)]);
    return { etag, plain, gzip: zipped, br };
  }
}
