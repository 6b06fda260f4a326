#include "sandbox/namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process/process_tree.h"
#include "sandbox/mount/mount.h"

/* The report of the maker process to the keeper. It is sent twice: after creating the user namespace, and at the end.
 * */
struct maker_report {
	bool has_user, failed, no_mounts, no_network, no_ipc, no_uts, own_proc;
	unsupported_t unsupported;
	const char *step;
	int error;
};

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t length = (ssize_t)strlen(text);
	bool written = write(fd, text, (size_t)length) == length;
	int error = errno;
	close(fd);
	errno = error;
	return written;
}

/* Writes the uid and gid maps of the maker's user namespace. Root maps all users, so that files keep their owners and
 * the command can run as another user. Other users can map only themselves. */
static bool map_users(pid_t maker, const struct sandbox_spec *spec)
{
	char path[64], text[64];
	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)maker);
	if (geteuid() == 0 && write_file(path, "0 0 4294967295")) {
		snprintf(path, sizeof path, "/proc/%d/gid_map", (int)maker);
		return write_file(path, "0 0 4294967295");
	}
	if (spec->has_user)
		return false;
	snprintf(text, sizeof text, "%u %u 1", (unsigned)geteuid(), (unsigned)geteuid());
	if (!write_file(path, text))
		return false;
	snprintf(path, sizeof path, "/proc/%d/setgroups", (int)maker);
	if (!write_file(path, "deny"))
		return false;
	snprintf(path, sizeof path, "/proc/%d/gid_map", (int)maker);
	snprintf(text, sizeof text, "%u %u 1", (unsigned)getegid(), (unsigned)getegid());
	return write_file(path, text);
}

static bool raise_loopback(void)
{
	struct ifreq request = {.ifr_flags = IFF_UP};
	strcpy(request.ifr_name, "lo");
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	if (fd >= 0)
		close(fd);
	return up;
}

/* ---- in the maker process ---- */

/* Creates a mount namespace. Also creates a user namespace for isolated sandboxes, and where an unprivileged keeper
 * requires one. */
static bool unshare_mounts(const struct sandbox_spec *spec, struct maker_report *report)
{
	if (!spec->isolated && unshare(CLONE_NEWNS) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
		report->has_user = true;
		return true;
	}
	return spec->isolated && unshare(CLONE_NEWNS) == 0;
}

static void set_up_mounts(const struct sandbox_spec *spec, struct maker_report *report)
{
	if (mounts_make_private() < 0) {
		report->no_mounts = true;
		return;
	}
	if (mounts_set_up(spec, &report->unsupported) < 0) {
		report->failed = true;
		report->step = "sandbox-mount";
		report->error = errno;
		return;
	}
	report->own_proc = !report->has_user && sandbox_spec_confines(spec) && private_proc_mount_hidden() == 0;
}

__attribute__((noreturn)) static void run_maker(const struct sandbox_spec *spec, int sock)
{
	struct maker_report report = {0};
	char go;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	umask(022); /* the user of the command must be able to traverse the directories created here */
	report.no_mounts = !unshare_mounts(spec, &report);
	prctl(PR_SET_DUMPABLE, 1); /* otherwise root would own its /proc files, and the maps could not be written */
	if (write(sock, &report, sizeof report) != sizeof report || read(sock, &go, 1) != 1)
		_exit(1);
	if (!report.no_mounts)
		set_up_mounts(spec, &report);
	if (spec->network == NETWORK_OFF && (unshare(CLONE_NEWNET) < 0 || !raise_loopback()))
		report.no_network = true;
	/* System V IPC objects have owners but no paths, so file rules do not apply to them. */
	report.no_ipc = unshare(CLONE_NEWIPC) < 0;
	report.no_uts = !spec->isolated || unshare(CLONE_NEWUTS) < 0;
	if (write(sock, &report, sizeof report) != sizeof report)
		_exit(1);
	(void)!read(sock, &go, 1); /* wait until the keeper has opened the namespaces */
	_exit(0);
}

/* ---- in the keeper ---- */

static int open_proc_entry(pid_t maker, const char *entry, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)maker, entry);
	return open(path, flags | O_CLOEXEC);
}

static bool open_namespaces(struct namespaces *made, pid_t maker, const struct sandbox_spec *spec,
			    const struct maker_report *report)
{
	if (report->has_user && (made->user = open_proc_entry(maker, "ns/user", O_RDONLY)) < 0)
		return false;
	if (!report->no_mounts && ((made->mount = open_proc_entry(maker, "ns/mnt", O_RDONLY)) < 0 ||
				   (made->root = open_proc_entry(maker, "root", O_PATH | O_DIRECTORY)) < 0 ||
				   (made->mount_table = open_proc_entry(maker, "mounts", O_RDONLY)) < 0))
		return false;
	if (spec->network == NETWORK_OFF && !report->no_network &&
	    (made->network = open_proc_entry(maker, "ns/net", O_RDONLY)) < 0)
		return false;
	if (!report->no_ipc && (made->ipc = open_proc_entry(maker, "ns/ipc", O_RDONLY)) < 0)
		return false;
	if (!report->no_mounts && (made->devpts = open_proc_entry(maker, "root/dev/pts", O_PATH)) < 0 &&
	    errno != ENOENT)
		return false;
	if (report->own_proc && (made->proc = open_proc_entry(maker, "root/proc", O_PATH)) < 0)
		return false;
	return report->no_uts || (made->uts = open_proc_entry(maker, "ns/uts", O_RDONLY)) >= 0;
}

static bool direct_maker(struct namespaces *made, pid_t maker, int sock, const struct sandbox_spec *spec,
			 struct maker_report *report)
{
	if (read(sock, report, sizeof *report) != sizeof *report)
		return false;
	if (report->has_user && !map_users(maker, spec)) {
		report->no_mounts = true;
		return true; /* a user namespace without maps is unusable */
	}
	if (write(sock, "", 1) != 1 || read(sock, report, sizeof *report) != sizeof *report)
		return false;
	return report->failed || open_namespaces(made, maker, spec, report);
}

bool namespaces_make(struct namespaces *made, const struct sandbox_spec *spec, unsupported_t *unsupported,
		     struct launch_failure *failure)
{
	int sock[2];
	struct maker_report report = {0};
	*made = NO_NAMESPACES;
	*failure = (struct launch_failure){"sandbox-namespace", 0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0) {
		failure->error = errno;
		return false;
	}
	pid_t maker = fork();
	if (maker == 0) {
		close(sock[0]);
		run_maker(spec, sock[1]);
	}
	close(sock[1]);
	bool completed = maker > 0 && direct_maker(made, maker, sock[0], spec, &report);
	failure->error = errno;
	close(sock[0]);
	process_reap(maker);
	if (!completed || report.failed) {
		namespaces_close(made);
		if (report.failed)
			*failure = (struct launch_failure){report.step, report.error};
		return false;
	}
	*unsupported |= report.unsupported;
	return true;
}

int namespaces_enter(const struct namespaces *namespaces)
{
	if (namespaces->user >= 0 && setns(namespaces->user, CLONE_NEWUSER) < 0)
		return -1;
	if (namespaces->mount >= 0 && setns(namespaces->mount, CLONE_NEWNS) < 0)
		return -1;
	if (namespaces->network >= 0 && setns(namespaces->network, CLONE_NEWNET) < 0)
		return -1;
	if (namespaces->ipc >= 0 && setns(namespaces->ipc, CLONE_NEWIPC) < 0)
		return -1;
	return namespaces->uts < 0 ? 0 : setns(namespaces->uts, CLONE_NEWUTS);
}

void namespaces_close(struct namespaces *namespaces)
{
	int *each[] = {&namespaces->user, &namespaces->mount,  &namespaces->network, &namespaces->ipc,
		       &namespaces->uts,  &namespaces->devpts, &namespaces->root,    &namespaces->mount_table,
		       &namespaces->proc};
	for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
		if (*each[i] >= 0)
			close(*each[i]);
		*each[i] = -1;
	}
}
