/** Replaces a secret. Its length is fixed, so that it reveals nothing about the secret. */
export const MASK = "•••";

const NAME_HINT = /pass|pwd|secret|token|key|cred|auth|cookie|jwt|bearer/i;

const SECRET = new RegExp(
  [
    "PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|SECRET(?!AR|ION)",
    "(?:API|PRIVATE|ACCESS)_?KEYS?$|_KEY(?:_?\\d+)?$",
    "TOKEN(?:_?\\d+)?$|_PWD$|(?:^|_)PASS$|(?:STORE|KEY|SSH|PG)PASS$|^PASS(?:IN|OUT)$",
    "(?:^|_)(?:AUTH|AUTHORIZATION|COOKIE|JWT|BEARER)$|^AUTH_",
  ].join("|"),
);

/** Names that describe a secret without being one: its location, length or kind, or that there is none. */
const NOT_SECRET = new RegExp(
  [
    "_(?:FILE|PATH|DIR|STDIN|URL|URI|HOST|PORT|TYPE|MODE|METHOD|NAME|TTL|LENGTH|COUNT|LIMIT|SOCK|ENABLED|PROVIDER)$",
    "_(?:POLICY|ALGORITHM|EXPIRY|EXPIRES|HELPER|STORE|ATTEMPTS|TIMEOUT|PROMPT|REQUIRED|SCHEME|VERSION)$",
    "^(?:NO|SKIP|WITHOUT|HAS|IS)_",
    "(?:^|_)(?:PUBLIC|PRIMARY|FOREIGN|SORT|CACHE|PARTITION|PUB|HOT)_KEY$|^OLD_PWD$|CONFIG_KEY_\\d+$",
  ].join("|"),
);

/** Reports whether a value with this name is usually secret: GITHUB_TOKEN, db-password, apiKey, X-Api-Key … */
export function isSecretName(name: string): boolean {
  if (name.length > 128 || !NAME_HINT.test(name)) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[-.]/g, "_")
    .toUpperCase();
  return SECRET.test(words) && !NOT_SECRET.test(words);
}

/** Secrets with a known format. Each pattern is anchored at the start of a word, so that no text is scanned twice. */
const SHAPES = new RegExp(
  `(?<![\\w-])(?:${[
    "gh[pousr]_\\w{20,}",
    "github_pat_\\w{20,}",
    "gl(?:pat|ptt|dt|rt)-[\\w-]{16,}",
    "sk-[\\w-]{16,}",
    "[sr]k_(?:live|test)_\\w{16,}",
    "whsec_[\\w+/=]{20,}",
    "xox[abeoprs]-[\\w-]{10,}",
    "xapp-[\\w-]{20,}",
    "A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?!\\w)",
    "AIza[\\w-]{35}",
    "ya29\\.[\\w.-]{20,}",
    "npm_[A-Za-z0-9]{30,}",
    "pypi-[\\w-]{50,}",
    "hf_[A-Za-z0-9]{30,}",
    "do[por]_v1_[a-f0-9]{40,}",
    "shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
    "SG\\.[\\w-]{16,}\\.[\\w-]{16,}",
    "AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    "eyJ[\\w-]{12,}\\.[\\w-]{4,}(?:\\.[\\w-]*){1,3}",
  ].join("|")})`,
  "g",
);

/** CSS classes may start with `sk-` too; a key contains digits. */
const WITHOUT_DIGITS = /^sk-(?!ant-|proj-)\D*$/;

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;

/** Webhooks whose path is the secret. */
const HOOK = /(hooks\.slack\.com\/(?:services|workflows)\/|discord(?:app)?\.com\/api\/webhooks\/)[\w/-]+/g;

/**
 * Starts at `://`, because a scheme could start anywhere in a long word. Ends at the last `@`, as passwords may have
 * one.
 */
const URL_USER = /:\/\/([^\s/?#'"`<>]*)@/g;
const LONGEST_USER_NAME = 32;
const REFERENCE = /^\$(?:\w+|\{\w+\})$/;

/** The length of the shortest secret in `SHAPES`: `xoxb-` and ten characters. */
const SHORTEST = 15;

export function maskKnownTokens(text: string): string {
  if (text.length < SHORTEST && !text.includes("://")) return text;
  let masked = text.replace(SHAPES, (found) => (WITHOUT_DIGITS.test(found) ? found : MASK));
  if (masked.includes("PRIVATE KEY")) masked = masked.replace(PRIVATE_KEY, MASK);
  if (!masked.includes("://")) return masked;
  return masked.replace(HOOK, `$1${MASK}`).replace(URL_USER, (_, user: string) => `://${maskUser(user)}@`);
}

/** Masks the password in `user:password`, unless it is empty or a variable reference. */
export function maskUser(user: string): string {
  const colon = user.indexOf(":");
  if (colon < 0) return user.length > LONGEST_USER_NAME ? MASK : user;
  const password = user.slice(colon + 1);
  return password === "" || REFERENCE.test(password) ? user : `${user.slice(0, colon)}:${MASK}`;
}

/** A short option that takes a password in some programs only: `mysql -pSECRET`, but `mkdir -p folder`. */
export interface PasswordFlag {
  flag: string;
  /** Whether the value is in the same argument, in the next one, or in either. */
  value: "attached" | "next" | "either";
}

const ATTACHED_P: PasswordFlag = { flag: "-p", value: "attached" };
const NEXT_W: PasswordFlag = { flag: "-w", value: "next" };

const FLAGS = new Map<string, PasswordFlag>([
  ...["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump", "7z", "7za"].map(
    (program) => [program, ATTACHED_P] as const,
  ),
  ["sshpass", { flag: "-p", value: "either" }],
  ["login", { flag: "-p", value: "either" }], // docker login, podman login, az login, helm registry login …
  ["curl", { flag: "-b", value: "next" }], // a session's cookie
  ["redis-cli", { flag: "-a", value: "next" }],
  ["http", { flag: "-a", value: "next" }],
  ["https", { flag: "-a", value: "next" }],
  ...["ldapsearch", "ldapadd", "ldapmodify", "ldappasswd"].map((program) => [program, NEXT_W] as const),
  ...["zip", "unzip"].map((program) => [program, { flag: "-P", value: "next" }] as const),
]);

/** Returns the password option of a program, which is given with or without a path. */
export function passwordFlagOf(word: string): PasswordFlag | null {
  return FLAGS.get(word.slice(word.lastIndexOf("/") + 1)) ?? null;
}
