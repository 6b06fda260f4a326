import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isPackageName, packagesHolding } from "./contents-file.ts";
import { debianPrograms } from "./debian-programs.ts";

/** Where a Debian system keeps what it knows about programs that are not installed. */
export interface PackageIndexes {
  /** Of the package command-not-found. */
  commandsDatabase: string;
  /** apt's lists; the Contents files of apt-file are among them, where they are not compressed. */
  aptLists: string;
}

export const SYSTEM_INDEXES: PackageIndexes = {
  commandsDatabase: "/var/lib/command-not-found/commands.db",
  aptLists: "/var/lib/apt/lists",
};

const FOLDERS = ["usr/bin", "usr/sbin", "bin", "sbin", "usr/games"];
const MOST_INDEXES = 8;
const MOST_PACKAGES = 3;

/** The Debian packages that provide a program, the likeliest first. Reads indexes; never runs anything. */
export function debianPackages(program: string, indexes: PackageIndexes = SYSTEM_INDEXES): string[] {
  if (!/^[\w.+-]{1,64}$/.test(program)) return [];
  for (const source of [fromDatabase, fromContents]) {
    try {
      const found = [...new Set(source(program, indexes))].filter(isPackageName);
      if (found.length > 0) return found.slice(0, MOST_PACKAGES);
    } catch {
      // Missing, busy, or in a form of its own: the next one may know.
    }
  }
  const known = debianPrograms().get(program);
  return known === undefined ? [] : [known];
}

function fromDatabase(program: string, { commandsDatabase }: PackageIndexes): string[] {
  if (!existsSync(commandsDatabase)) return [];
  const database = new DatabaseSync(commandsDatabase, { readOnly: true });
  try {
    const rows = database
      .prepare(
        `SELECT packages.name AS name FROM commands JOIN packages ON packages.pkgID = commands.pkgID
         WHERE commands.command = ? ORDER BY packages.priority DESC, packages.name LIMIT 10`,
      )
      .all(program);
    return rows.map(({ name }) => String(name));
  } finally {
    database.close();
  }
}

function fromContents(program: string, { aptLists }: PackageIndexes): string[] {
  const indexes = readdirSync(aptLists).filter((name) => /_Contents-[a-z0-9]+$/.test(name));
  return indexes
    .slice(0, MOST_INDEXES)
    .flatMap((index) => FOLDERS.flatMap((folder) => packagesHolding(join(aptLists, index), `${folder}/${program}`)));
}
