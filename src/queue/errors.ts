import type { Recovery } from "../core/error.ts";

type Words = [message: string, recovery: Recovery[]];

export function dbosMissing(name: string): Words {
  return [
    `\`callback.dbos\` needs the package ${name}, which is not installed.`,
    [{ action: "install", hint: `npm install ${name} where sallyport is installed.` }],
  ];
}

export function dbosUrlBad(): Words {
  return [
    "`callback.dbos.urlFile` must hold the address of a PostgreSQL database.",
    [{ action: "fix_configuration", hint: "It looks like postgresql://user:password@host:5432/app_dbos_sys." }],
  ];
}
