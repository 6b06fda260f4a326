import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { test } from "node:test";
import { commandUser, environmentAsUser, homesOf } from "../../../src/sandbox/user.ts";

const ACCOUNTS = {
  passwd: "root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada:/home/ada:/bin/bash\nbare:x:1001:1001::\n",
  group: "root:x:0:\nada:x:1000:\nwheel:x:10:ada,bob\ndocker:x:99:bob\n",
  uid: 0,
};

const ADA = { name: "ada", home: "/home/ada", ids: { uid: 1000, gid: 1000, groups: [1000, 10] } };

test("finds a user by name and by uid, with its groups", () => {
  assert.deepEqual(commandUser("ada", ACCOUNTS), ADA);
  assert.deepEqual(commandUser("1000", ACCOUNTS), ADA);
  assert.equal(commandUser(null, ACCOUNTS), null);
});

test("accepts a uid and gid without an entry in /etc/passwd", () => {
  assert.deepEqual(commandUser("5000:6000", ACCOUNTS), {
    name: "5000",
    home: "/",
    ids: { uid: 5000, gid: 6000, groups: [6000] },
  });
  assert.throws(() => commandUser("5000", ACCOUNTS), {
    type: "InvalidConfiguration",
    message: /user "5000" .* does not exist/,
  });
  assert.throws(() => commandUser("nobody-here", ACCOUNTS), { type: "InvalidConfiguration" });
});

test("a uid with another gid keeps the name and home directory of its user", () => {
  assert.deepEqual(commandUser("1000:10", ACCOUNTS)?.ids, { uid: 1000, gid: 10, groups: [10] });
});

test("returns null for the current user, and rejects other users unless it runs as root", () => {
  assert.equal(commandUser("ada", { ...ACCOUNTS, uid: 1000 }), null);
  assert.equal(commandUser("root", ACCOUNTS), null);
  assert.throws(() => commandUser("root", { ...ACCOUNTS, uid: 1000 }), { message: /Only root can/ });
});

test("the environment has the user's values, not root's", () => {
  const env = { HOME: "/root", USER: "root", PATH: "/bin", XDG_RUNTIME_DIR: "/run/user/0", MAIL: "/var/mail/root" };
  assert.deepEqual(environmentAsUser(env, ADA), { HOME: "/home/ada", USER: "ada", LOGNAME: "ada", PATH: "/bin" });
  assert.deepEqual(environmentAsUser(env, null), env);
});

test("lists the homes of all accounts only if commands run as root", () => {
  const passwd = `${ACCOUNTS.passwd}\nbin:x:2:2::/bin:/bin/sh\npg:x:99:99::/var/lib/postgresql:/bin/sh\ngames:x:5:5::/usr/games:/bin/sh\n`;
  const accounts = { ...ACCOUNTS, passwd, uid: 0 };
  const { own, others } = homesOf("/elsewhere", null, accounts);
  assert.ok(own.includes("/elsewhere"));
  assert.ok(own.includes(userInfo().homedir), "the home of the account, whatever HOME says");
  assert.ok(others.includes(ADA.home));
  assert.ok(others.includes("/var/lib/postgresql"));
  assert.ok(!others.some((home) => home === "/bin" || home.startsWith("/usr")));
  assert.deepEqual(homesOf("/elsewhere", ADA, accounts).others, []);
  assert.deepEqual(homesOf("/elsewhere", null, { ...accounts, uid: 1000 }).others, []);
  assert.ok(homesOf("/elsewhere", ADA, accounts).own.includes(ADA.home));
});
