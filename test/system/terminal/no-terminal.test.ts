import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GatewayFixture } from "../../fixtures/gateway.ts";
import { buildKeeper } from "../../fixtures/keeper-build.ts";
import { until } from "../../fixtures/until.ts";

/** A keeper on a machine without free terminals. */
const build = buildKeeper(
  "no-terminals",
  ["-Wl,--wrap=openat"],
  `#include <errno.h>
   #include <fcntl.h>
   #include <stdarg.h>
   #include <string.h>
   int __real_openat(int folder, const char *path, int flags, ...);
   int __wrap_openat(int folder, const char *path, int flags, ...) {
     va_list arguments;
     va_start(arguments, flags);
     int mode = va_arg(arguments, int);
     va_end(arguments);
     if (strcmp(path, "/dev/ptmx") == 0 || strcmp(path, "ptmx") == 0) { errno = ENOSPC; return -1; }
     return __real_openat(folder, path, flags, mode);
   }`,
);
process.env.SALLYPORT_KEEPER = build.keeper;
const fixture = new GatewayFixture();
const gateway = await fixture.open();
after(async () => {
  await fixture.close();
  build.remove();
});

test("without a free terminal the command runs on pipes, with a warning", async () => {
  const result = await gateway.run({ command: "test -t 1 || echo piped; echo too >&2", pty: true });
  assert.equal(result.exitCode, 0);
  assert.equal(result.output, "piped\ntoo\n");
  const note = /no terminal was available \(ptmx: no space left on device\), so the command ran on pipes/;
  assert.match(result.warnings.join("\n"), note);
  const info = gateway.session(result.id).info();
  assert.equal(info.pty, null);
  assert.match(info.warnings.join("\n"), note);
});

test("a command without its terminal accepts input, but neither keys nor a size", async () => {
  const session = await gateway.start({ command: "cat", pty: true });
  await session.write("plain\n");
  await until("the command echoes its input", async () => (await session.logs()).text === "plain\n");
  await assert.rejects(session.sendKeys(["Enter"]), { type: "NotOnTerminal" });
  await assert.rejects(session.resize({ columns: 80, rows: 24 }), { type: "NotOnTerminal" });
  await session.closeStdin();
  assert.equal((await session.wait()).exitCode, 0);
});
