/**
 * The headers of every response. They are constants and not set by Hono's middleware, because JSON responses are
 * written to the socket directly and rejected WebSocket upgrades never reach Hono.
 */
const COMMON = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** The headers of API responses, which are never cached and never shown as a page. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/**
 * The console only loads its own files and only connects to its own service. Inline styles are allowed, because the
 * terminal creates style elements and sets style attributes.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};
