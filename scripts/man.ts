/** Writes the manual page into the package: node scripts/man.ts FILE */
import { writeFileSync } from "node:fs";
import { manPage } from "../src/cli/man/page.ts";

const [, , file] = process.argv;
if (file === undefined) throw new Error("usage: node scripts/man.ts FILE");
writeFileSync(file, await manPage());
