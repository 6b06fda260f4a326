/** A short option that means a password only to some programs: `mysql -pSECRET`, but `mkdir -p folder`. */
export interface PasswordFlag {
  flag: string;
  /** The value follows in the same word, in the next one, or either way. */
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

/** The password option of the program that this word names, with or without a path. */
export function passwordFlagOf(word: string): PasswordFlag | null {
  return FLAGS.get(word.slice(word.lastIndexOf("/") + 1)) ?? null;
}
