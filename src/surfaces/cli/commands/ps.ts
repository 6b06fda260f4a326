import type { ListQuery } from "../../../contract/gateway.ts";
import type { SessionInfo } from "../../../contract/session.ts";
import { PIPED_COLUMNS, terminalColumns } from "../../../present/session-table.ts";
import { alignedTable, tabbedTable } from "../../../present/table.ts";
import type { Command, Io } from "../command.ts";
import { countOption, textOption } from "../option.ts";
import { printJson } from "../print-json.ts";
import { withGateway } from "../with-gateway.ts";

export const ps: Command = {
  name: "ps",
  summary: "List sessions",
  usage: "sallyport ps [OPTIONS]",
  options: {
    all: { type: "boolean", short: "a" },
    quiet: { type: "boolean", short: "q" },
    limit: { type: "string" },
  },
  help: {
    all: "show finished sessions too, not only those still running",
    quiet: "print only ids",
    limit: "N: show at most the N latest",
    agent: "NAME: show only this agent's sessions",
  },
  examples: [
    "sallyport ps",
    "sallyport ps -a --limit 10",
    "sallyport kill $(sallyport ps -q)",
    "sallyport ps -a --json",
  ],
  notes: `Piped, there are no titles and tabs stand between the columns:
ID, NAME, STATUS, EXIT, STARTED, MILLISECONDS, COMMAND, HOST (- is this machine).`,
  run: (invocation) =>
    withGateway(invocation, async (gateway) => {
      const { values, io } = invocation;
      const agent = textOption(values, "agent");
      const query: ListQuery = {
        ...(values.all ? {} : { live: true }),
        ...(agent ? { agent } : {}),
      };
      const sessions = gateway.list({ ...query, limit: countOption(values, "limit") ?? gateway.count(query) });
      if (values.json) printJson(sessions, io);
      else if (values.quiet) io.out(sessions.map(({ id }) => `${id}\n`).join(""));
      else printTable(sessions, values.all === true, io);
      return 0;
    }),
};

function printTable(sessions: SessionInfo[], all: boolean, io: Io): void {
  if (!io.isTTY.stdout) {
    io.out(tabbedTable(PIPED_COLUMNS, sessions));
  } else if (sessions.length > 0) {
    io.out(
      alignedTable(
        terminalColumns(sessions, { nowMs: Date.now(), columns: io.columns, color: io.color }),
        sessions,
        io.columns,
      ),
    );
  } else {
    io.err(all ? "No sessions.\n" : "Nothing is running. `sallyport ps -a` shows finished sessions too.\n");
  }
}
