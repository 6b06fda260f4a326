import { BASH_BACKGROUND_BYTES, BASH_OUTPUT_BYTES } from "../../core/output-limits.ts";
import { forModel } from "../../text/for-model.ts";
import { matchingLines } from "../../text/pattern.ts";
import { LOOKS } from "../annotations.ts";
import { tool } from "../define.ts";
import { exitStatus } from "../texts/exit-status.ts";
import { readUnread } from "../unread.ts";
import { BashOutputInput, BashOutputResult, READER } from "./schema.ts";
import { unreadText } from "./text.ts";

export const BashOutput = tool({
  name: "BashOutput",
  title: "Read a background command",
  description:
    "What a command started by Bash has written since the last call, its status, and its exit code once it has ended. At most 100 KiB a call; it says how much more waits: call again. Also gives what was left out of a foreground result, by its shell_id.",
  input: BashOutputInput,
  output: BashOutputResult,
  annotations: { ...LOOKS, idempotentHint: false },
  operation: "read",
  async handle({ shell_id, filter }, { gateway, root }) {
    const session = await gateway.find(shell_id);
    // Before the output: what ends in between is told with the next call, and nothing is missed.
    const info = session.info();
    const unread = await readUnread(root, session, {
      reader: READER,
      page: BASH_OUTPUT_BYTES,
      buffer: BASH_BACKGROUND_BYTES,
      wholeLines: filter !== undefined && info.status === "running",
    });
    const wanted = filter === undefined ? unread.text : matchingLines(unread.text, filter);
    const output = forModel(wanted, { maxBytes: BASH_OUTPUT_BYTES }).text;
    const { left, skipped } = unread;
    const exitCode = exitStatus(info);
    return {
      structured: {
        shell_id: info.id,
        status: info.status,
        exit_code: exitCode,
        output,
        unread_bytes: left,
        skipped_bytes: skipped + unread.droppedBytes,
      },
      text: unreadText({ output, status: info.status, exitCode, left, skipped: skipped + unread.droppedBytes }),
    };
  },
});
