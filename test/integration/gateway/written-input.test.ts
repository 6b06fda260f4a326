import assert from "node:assert/strict";
import { existsSync, rmSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import type { Approval } from "../../../src/core/approval.ts";
import type { RunRequest } from "../../../src/core/request.ts";
import type { Gateway } from "../../../src/gateway/gateway.ts";
import type { Session } from "../../../src/session/session.ts";
import { GatewayFixture } from "../../fixtures/gateway.ts";

/** A blocked command. It changes nothing on a machine without SELinux. */
const BLOCKED = "touch ran && setenforce 0";

let fixture: GatewayFixture;
let gateway: Gateway;
before(async () => {
  fixture = new GatewayFixture();
  gateway = await fixture.open();
});
beforeEach(() => rmSync(fixture.path("ran"), { force: true }));
after(() => fixture.close());

async function withSession(request: RunRequest, use: (session: Session) => Promise<void>, by = gateway): Promise<void> {
  const session = await by.start({ stdin: "open", ...request });
  try {
    await use(session);
  } finally {
    if (session.info().status === "running") await session.kill({ signal: "SIGKILL" });
  }
}

/** Returns the output of a session after it has processed its input. */
async function finish(session: Session): Promise<string> {
  await session.closeStdin();
  await session.wait();
  const { chunks } = await session.logs();
  return chunks.map(({ bytes }) => Buffer.from(bytes).toString()).join("");
}

const READERS: readonly RunRequest[] = [
  { command: "bash" },
  { command: "sh", args: ["-s"] },
  { command: "env", args: ["bash"] },
  { command: "nohup bash" },
  { command: "cat | sh" },
  { command: "xargs -I{} sh -c {}" },
  { command: "bash", args: ["-c", "cd . && exec bash"] },
  { command: 'while read -r line; do eval "$line"; done' },
];

for (const reader of READERS) {
  test(`blocks input that is written to \`${[reader.command, ...(reader.args ?? [])].join(" ")}\``, async () => {
    await withSession(reader, async (session) => {
      await assert.rejects(session.write(`${BLOCKED}\n`), { type: "CommandBlocked" });
      await session.write("echo still here\n");
      assert.match(await finish(session), /still here/);
      assert.ok(!existsSync(fixture.path("ran")));
    });
  });
}

for (const [command, text] of [
  ["sqlite3", ".shell setenforce 0\n"],
  ["gdb -q", "shell setenforce 0\n"],
  ["python3 -i", 'import os; os.system("setenforce 0")\n'],
  ["node -i", 'require("child_process").execSync("setenforce 0")\n'],
  ["psql", "\\! setenforce 0\n"],
] as const) {
  test(`blocks a command that \`${command}\` would pass to a shell`, async () => {
    await withSession({ command: `cat > /dev/null; ${command}` }, async (session) => {
      await assert.rejects(session.write(text), { type: "CommandBlocked" });
    });
  });
}

test("denies input that raises privileges", async () => {
  await withSession({ command: "bash" }, async (session) => {
    await assert.rejects(session.write("sudo id\n"), { type: "CommandDenied" });
  });
});

test("blocks text however it is split over writes", async () => {
  const text = `${BLOCKED}\n`;
  const pieces = (...at: number[]) => [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
  for (const parts of [[...text], pieces(1), pieces(5, 6), pieces(16, 20, 25), pieces(text.length - 1)]) {
    await withSession({ command: "bash" }, async (session) => {
      await assert.rejects(
        async () => {
          for (const part of parts) await session.write(part);
        },
        { type: "CommandBlocked" },
      );
    });
  }
  assert.ok(!existsSync(fixture.path("ran")));
});

test("blocks a command that several lines, gateways or concurrent writers put together", async () => {
  await withSession({ command: "bash" }, async (session) => {
    await session.write("touch ran && \\\n");
    await assert.rejects(session.write("setenforce 0\n"), { type: "CommandBlocked" });
  });
  await withSession({ command: "bash" }, async (session) => {
    const other = (await fixture.open()).session(session.id);
    await session.write("x=0\n");
    await session.write("seten\\\n");
    await assert.rejects(other.write("force $x\n"), { type: "CommandBlocked" });
  });
  await withSession({ command: "bash" }, async (session) => {
    const other = gateway.session(session.id);
    const written = await Promise.allSettled([session.write("setenf"), other.write("orce 0\n")]);
    assert.deepEqual(
      written.map(({ status }) => status),
      ["fulfilled", "rejected"],
    );
  });
});

test("blocks an incomplete line that the end of the input would run", async () => {
  await withSession({ command: "bash" }, async (session) => {
    await session.write(BLOCKED);
    await assert.rejects(session.closeStdin(), { type: "CommandBlocked" });
    assert.ok(!existsSync(fixture.path("ran")));
  });
});

test("removes NUL bytes, which shells skip, and accepts the body of a here-document as data", async () => {
  await withSession({ command: "bash" }, async (session) => {
    await assert.rejects(session.write("seten\0force 0\n"), { type: "CommandBlocked" });
    await assert.rejects(session.write("read x\ncat <<END\nsetenforce 0\nEND\n"), { type: "CommandBlocked" });
    await session.write("cat <<END\nsetenforce 0\nEND\n");
    assert.equal(await finish(session), "setenforce 0\n");
  });
});

test("treats the input of other programs as data", async () => {
  await withSession({ command: "cat" }, async (session) => {
    await session.write("setenforce 0\n");
    assert.equal(await finish(session), "setenforce 0\n");
  });
});

test("asks for approval of input that cannot be analyzed, bound to the session and the bytes", async () => {
  const asked: Approval[] = [];
  const careful = await fixture.open({
    approve: async (approval) => {
      asked.push(approval);
      return { decision: "once", who: "tester" };
    },
  });
  await withSession(
    { command: "bash" },
    async (session) => {
      asked.length = 0;
      await session.write('eval "$UNKNOWN"; echo one\n');
      assert.equal(asked.length, 1);
      assert.match(asked[0]?.request.command.text ?? "", /UNKNOWN/);
      await session.write('eval "$UNKNOWN"; echo two\n');
      assert.equal(asked.length, 2);
      assert.equal(await finish(session), "one\ntwo\n");
    },
    careful,
  );
});

test("reports input that waits for approval, and writes it after it is approved", async () => {
  const pending = await fixture.open({ approve: undefined });
  await withSession(
    { command: "bash" },
    async (started) => {
      const session = pending.scoped({ approvalTimeoutMs: 0 }).session(started.id);
      const input = 'eval "$UNKNOWN"; echo done\n';
      await assert.rejects(session.write(input), (error: Error & { type: string }) => {
        assert.equal(error.type, "ApprovalPending");
        assert.match(error.message, /has not received this input/);
        return true;
      });
      const [approval] = pending.approvals.list({ status: "pending" });
      assert.ok(approval);
      pending.approvals.decide(approval.id, { decision: "once", who: "tester", channel: "library" });
      await session.write(input);
      assert.equal(await finish(started), "done\n");
    },
    gateway,
  );
});

test("allows input that cannot be analyzed in a sandbox, but no blocked command", async () => {
  const confined = await fixture.open({
    policy: { sandbox: "workspace-write" },
    approve: async () => ({ decision: "deny", who: "tester" }),
  });
  await withSession(
    { command: "python3 -i" },
    async (session) => {
      await session.write("print(6 * 7)\n");
      await assert.rejects(session.write('import os; os.system("setenforce 0")\n'), { type: "CommandBlocked" });
      assert.match(await finish(session), /42/);
    },
    confined,
  );
});
