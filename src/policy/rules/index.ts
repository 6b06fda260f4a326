import type { Rule } from "../rule.ts";
import { deletePersonal, deleteProtected, deleteVital } from "./delete.ts";
import { disk } from "./disk.ts";
import { containerEscape, forkBomb, networkShell, selfApproval } from "./escape.ts";
import { host, processes, services } from "./host.ts";
import { boot, power, security } from "./power.ts";
import { accounts, mounting, privilege } from "./privilege.ts";
import { modeProtected, modeVital, writeBoot, writeDevice, writePower, writeProtected } from "./write.ts";

/** All built-in rules, blocks first. */
export const RULES: readonly Rule[] = [
  deleteVital,
  writeDevice,
  writePower,
  writeBoot,
  modeVital,
  disk,
  power,
  security,
  boot,
  forkBomb,
  privilege,
  mounting,
  accounts,
  host,
  services,
  processes,
  deletePersonal,
  deleteProtected,
  writeProtected,
  modeProtected,
  networkShell,
  containerEscape,
  selfApproval,
];
