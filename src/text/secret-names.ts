/** Stands where a secret was. Always as long, so that it says nothing about what it hides. */
export const MASK = "•••";

const HINT = /pass|pwd|secret|token|key|cred|auth|cookie|jwt|bearer/i;

const SECRET = new RegExp(
  [
    "PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|SECRET(?!AR|ION)",
    "(?:API|PRIVATE|ACCESS)_?KEYS?$|_KEY(?:_?\\d+)?$",
    "TOKEN(?:_?\\d+)?$|_PWD$|(?:^|_)PASS$|(?:STORE|KEY|SSH|PG)PASS$|^PASS(?:IN|OUT)$",
    "(?:^|_)(?:AUTH|AUTHORIZATION|COOKIE|JWT|BEARER)$|^AUTH_",
  ].join("|"),
);

/** These only say something about a secret: where it is, how long, of which kind, or that there is none. */
const ABOUT = new RegExp(
  [
    "_(?:FILE|PATH|DIR|STDIN|URL|URI|HOST|PORT|TYPE|MODE|METHOD|NAME|TTL|LENGTH|COUNT|LIMIT|SOCK|ENABLED|PROVIDER)$",
    "_(?:POLICY|ALGORITHM|EXPIRY|EXPIRES|HELPER|STORE|ATTEMPTS|TIMEOUT|PROMPT|REQUIRED|SCHEME|VERSION)$",
    "^(?:NO|SKIP|WITHOUT|HAS|IS)_",
    "(?:^|_)(?:PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION|PUB|HOT)_KEY$|^OLD_PWD$|CONFIG_KEY_\\d+$",
  ].join("|"),
);

/** Whether what is called so is usually secret: GITHUB_TOKEN, db-password, apiKey, X-Api-Key … */
export function isSecretName(name: string): boolean {
  if (name.length > 128 || !HINT.test(name)) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[-.]/g, "_")
    .toUpperCase();
  return SECRET.test(words) && !ABOUT.test(words);
}
