#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "broker/broker.h"
#include "sandbox/landlock.h"
#include "sandbox/mount/mount.h"
#include "sandbox/namespaces.h"
#include "sandbox/seccomp/seccomp.h"

static enum seccomp_sockets sockets_for(const struct sandbox_spec *spec, const struct cached_sandbox *cached,
					bool socket_broker)
{
	if (spec->network == NETWORK_ON)
		return !sandbox_spec_confines(spec) ? SOCKETS_ANY : socket_broker ? SOCKETS_BROKERED : SOCKETS_NO_UNIX;
	if (spec->network == NETWORK_OFF)
		return cached->namespaces.network < 0 ? SOCKETS_NONE : SOCKETS_LOOPBACK;
	for (size_t i = 0; i < spec->port_count; i++)
		if (sandbox_spec_port(spec, i) == 53) /* DNS */
			return SOCKETS_TCP_UDP;
	return SOCKETS_TCP;
}

/* Reports whether commands of SPEC have their own pid namespace. Without Landlock, /proc would lead to the files of
 * other processes of the user, which see more than the command (invariant 7). Without the scopes of ABI 6 and a broker,
 * the command could signal them. With the network off, /proc would show the network of the host. */
static bool has_pid_namespace(const struct sandbox_spec *spec, int abi, const struct namespaces *namespaces)
{
	bool needed = abi < 1 || (abi < 6 && broker_calls(spec) == BROKER_NO_CALLS) ||
		      (spec->network == NETWORK_OFF && namespaces->proc < 0);
	bool wanted = spec->isolated || (needed && sandbox_spec_confines(spec));
	return wanted && pid_namespace_works(namespaces);
}

static struct mechanisms mechanisms_of(const struct namespaces *namespaces, int abi, bool own_pid_namespace, bool broker)
{
	return (struct mechanisms){
		.landlock_abi = abi,
		.mounts = namespaces->mount >= 0,
		.ipc = namespaces->ipc >= 0,
		.seccomp = seccomp_works(),
		.broker = broker,
		.pid_namespace = own_pid_namespace,
		.isolation = own_pid_namespace && namespaces->user >= 0 && namespaces->ipc >= 0 && namespaces->uts >= 0,
	};
}

/* Chooses the filter of SANDBOX. */
static void choose_filter(struct sandbox *sandbox)
{
	int abi = sandbox->cached->abi;
	enum broker_calls calls = broker_calls(sandbox->spec);
	bool broker = calls != BROKER_NO_CALLS, takes_sockets = calls == BROKER_ALL_CALLS;
	struct seccomp_options options = {
		.sockets = sockets_for(sandbox->spec, sandbox->cached, takes_sockets),
		.tracing = abi > 0,
		.broker = broker,
		.listeners = takes_sockets,
		.signals = broker && abi < 6 && !sandbox->own_pid_namespace,
		.own_pids = sandbox->own_pid_namespace,
	};
	sandbox->filter = seccomp_program(options);
	sandbox->brokered = sandbox->filter && broker;
}

bool sandbox_prepare(struct sandbox *sandbox, const struct sandbox_spec *spec, struct launch_failure *failure)
{
	*sandbox = (struct sandbox){0};
	if (!spec->enabled)
		return true;
	struct cached_sandbox *cached = sandbox_cache_get(spec, failure);
	if (!cached)
		return false;
	*sandbox = (struct sandbox){.spec = spec, .cached = cached, .unsupported = cached->unsupported};
	sandbox->own_pid_namespace = has_pid_namespace(spec, cached->abi, &cached->namespaces);
	cached->uses += sandbox->own_pid_namespace;
	choose_filter(sandbox);
	struct mechanisms mechanisms =
		mechanisms_of(&cached->namespaces, cached->abi, sandbox->own_pid_namespace, sandbox->brokered);
	mechanisms.seccomp = sandbox->filter != NULL;
	sandbox->unsupported |= unsupported_find(spec, &mechanisms);
	bool complete = sandbox->unsupported == 0;
	/* Exhausted limits of inotify do not prevent the start, because any program of the user can exhaust them. */
	if (!mask_monitor_works(&cached->monitor))
		sandbox->unsupported |= UNSUPPORTED_BIT(UNSUPPORTED_MASK_MONITOR);
	if (!spec->require || complete)
		return true;
	/* A namespace may be missing only for now, for example for lack of memory, so it is tried again next time. */
	sandbox_cache_clear();
	*failure = (struct launch_failure){"sandbox-require", 0};
	return false;
}

int sandbox_devpts(const struct sandbox *sandbox)
{
	return sandbox->cached ? sandbox->cached->namespaces.devpts : -1;
}

const char *sandbox_enter(const struct sandbox *sandbox)
{
	if (!sandbox->spec)
		return NULL;
	if (!sandbox->own_pid_namespace) /* otherwise pid_namespace_start has entered them */
		return namespaces_enter(&sandbox->cached->namespaces) < 0 ? "sandbox-namespace" : NULL;
	int proc = private_proc_mount();
	if (proc < 0)
		return "sandbox-mount";
	/* The ruleset was built with the /proc of the host, so it needs a rule for the new one. */
	int failed = sandbox->cached->ruleset < 0
			     ? 0
			     : landlock_rules_add_read(sandbox->cached->ruleset, sandbox->cached->abi, proc);
	int error = errno;
	close(proc);
	errno = error;
	return failed ? "sandbox-landlock" : NULL;
}

/* Capabilities that programs of root need in a workspace: to handle files of several owners, to change users, and to
 * bind low ports. All others are dropped. They would allow access to raw disks and memory, mounts, modules, file
 * handles (DAC_READ_SEARCH), device nodes, raw packets, limits, the clock, and file capabilities, which outlive the
 * command. */
static const unsigned char kept[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,          CAP_FSETID,
				     CAP_SETGID, CAP_SETUID,       CAP_NET_BIND_SERVICE};

static int drop_capabilities(bool signals_scoped)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];
	uint64_t keep = signals_scoped ? 1ull << CAP_KILL : 0;
	for (unsigned i = 0; i < sizeof kept; i++)
		keep |= 1ull << kept[i];
	/* EINVAL means past the last capability. A process that may not drop capabilities (EPERM) cannot gain them
	 * either, because of no_new_privs. */
	for (unsigned each = 0; each < 64; each++)
		if (!(keep >> each & 1) && prctl(PR_CAPBSET_DROP, each, 0, 0, 0) < 0 && errno != EPERM) {
			if (errno == EINVAL)
				break;
			return -1;
		}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (unsigned half = 0; half < 2; half++) {
		uint32_t mine = (uint32_t)(keep >> (32 * half));
		data[half].permitted &= mine;
		data[half].effective &= mine;
		data[half].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &header, data);
}

/* Changes to the user of SPEC. The pipes are given to that user, who could not reopen them through /dev/stderr
 * otherwise. */
static const char *change_user(const struct sandbox_spec *spec)
{
	gid_t groups[SPEC_MAX_GROUPS];
	struct stat status;
	int count = sandbox_spec_groups(spec, groups);
	if (count < 0)
		return "sandbox-user";
	for (int fd = 0; fd < 3; fd++)
		if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || isatty(fd)))
			(void)!fchown(fd, spec->uid, (gid_t)-1);
	if (setgroups((size_t)count, groups) < 0 || setresgid(spec->gid, spec->gid, spec->gid) < 0 ||
	    setresuid(spec->uid, spec->uid, spec->uid) < 0)
		return "sandbox-user";
	/* The working directory was entered with other privileges. */
	return faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS) < 0 ? "chdir" : NULL;
}

static int apply_filter(const struct sandbox *sandbox)
{
	if (!sandbox->brokered)
		return seccomp_restrict(sandbox->filter);
	int listener = seccomp_restrict_brokered(sandbox->filter);
	return listener < 0 ? -1 : broker_handoff_send(listener);
}

const char *sandbox_apply(const struct sandbox *sandbox)
{
	const struct sandbox_spec *spec = sandbox->spec;
	if (!spec)
		return NULL;
	const struct cached_sandbox *cached = sandbox->cached;
	if (drop_capabilities(cached->abi >= 6 || sandbox->own_pid_namespace) < 0)
		return "sandbox-capabilities";
	if (spec->has_user) {
		const char *failed = change_user(spec);
		if (failed)
			return failed;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "sandbox-privileges";
	if (cached->ruleset >= 0 && landlock_restrict(cached->ruleset) < 0)
		return "sandbox-landlock";
	if (sandbox->filter && apply_filter(sandbox) < 0)
		return "sandbox-seccomp";
	return NULL;
}

/* Tries the namespaces of SPEC and stores them in NAMESPACES. Returns the mechanisms that a command would have. */
static struct mechanisms probe_mechanisms(const struct sandbox_spec *spec, struct namespaces *namespaces)
{
	struct launch_failure failure;
	unsupported_t unsupported = 0;
	if (!namespaces_make(namespaces, spec, &unsupported, &failure))
		*namespaces = NO_NAMESPACES;
	int abi = landlock_abi();
	bool broker = broker_calls(spec) != BROKER_NO_CALLS;
	return mechanisms_of(namespaces, abi, has_pid_namespace(spec, abi, namespaces), broker);
}

/* Prints what MECHANISMS do not enforce for each network mode, as a JSON object. */
static void print_unsupported(struct sandbox_spec spec, const struct mechanisms *mechanisms)
{
	static const char *const modes[] = {[NETWORK_ON] = "on", [NETWORK_OFF] = "off", [NETWORK_PORTS] = "ports"};
	char text[UNSUPPORTED_TEXT_MAX];
	for (unsigned mode = 0; mode < sizeof modes / sizeof *modes; mode++) {
		spec.network = (uint8_t)mode;
		unsupported_format(unsupported_find(&spec, mechanisms), text);
		printf("%c\"%s\":%s", mode ? ',' : '{', modes[mode], text);
	}
	printf("}");
}

int sandbox_probe(void)
{
	static const struct sandbox_spec shared = {.enabled = true, .network = NETWORK_OFF};
	static const struct sandbox_spec isolated = {.enabled = true, .isolated = true};
	struct namespaces namespaces;
	struct mechanisms mechanisms = probe_mechanisms(&shared, &namespaces);
	const char *mounts = namespaces.mount < 0 ? "none" : namespaces.user < 0 ? "root" : "user";
	bool network = namespaces.network >= 0;
	namespaces_close(&namespaces);
	struct mechanisms in_isolation = probe_mechanisms(&isolated, &namespaces);
	namespaces_close(&namespaces);
	printf("{\"landlock\":%d,\"mounts\":\"%s\",\"isolation\":%s,\"networkNamespace\":%s,\"seccomp\":%s,"
	       "\"socketBroker\":%s,\"unsupported\":{\"shared\":",
	       mechanisms.landlock_abi, mounts, in_isolation.isolation ? "true" : "false", network ? "true" : "false",
	       mechanisms.seccomp ? "true" : "false", broker_calls(&shared) == BROKER_ALL_CALLS ? "true" : "false");
	print_unsupported(shared, &mechanisms);
	printf(",\"isolated\":");
	print_unsupported(isolated, &in_isolation);
	printf("}}\n");
	return 0;
}
