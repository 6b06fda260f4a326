/** On every answer: it is ours alone to show, nobody keeps it, and it is what it says it is. */
const COMMON = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** What is no page must not be taken for one. */
export const API_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/**
 * The page loads its own files and talks to its own service, and nothing else. Its terminal makes style elements and sets
 * style attributes: styles are the one thing that may be inline.
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
