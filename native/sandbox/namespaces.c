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

#include "sandbox/mount/mounts.h"

/* What the maker tells the keeper, first of its user namespace and then of all. */
struct news {
	bool has_user, failed, no_mounts, no_network, no_memory;
	gaps_t gaps;
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

/* Root maps everybody, so that files keep their owners and the command can be another user; others only themselves. */
static bool map_users(pid_t maker, const struct spec *spec)
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

/* ---- in the maker ---- */

/* A user namespace where `isolated` asks for one, and wherever the rest cannot be had without. */
static bool split_off(const struct spec *spec, struct news *news)
{
	if (!spec->isolated && unshare(CLONE_NEWNS) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
		news->has_user = true;
		return true;
	}
	return spec->isolated && unshare(CLONE_NEWNS) == 0;
}

static void arrange(const struct spec *spec, struct news *news)
{
	if (mounts_cut_off() < 0) {
		news->no_mounts = true;
		return;
	}
	if (mounts_arrange(spec, &news->gaps) < 0) {
		news->failed = true;
		news->step = "sandbox-mount";
		news->error = errno;
	}
}

__attribute__((noreturn)) static void make(const struct spec *spec, int line)
{
	struct news news = {0};
	char go;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	umask(022); /* whoever the command will be passes through the folders made here */
	news.no_mounts = !split_off(spec, &news);
	prctl(PR_SET_DUMPABLE, 1); /* or its files in /proc would belong to root, and its users could not be mapped */
	if (write(line, &news, sizeof news) != sizeof news || read(line, &go, 1) != 1)
		_exit(1);
	if (!news.no_mounts)
		arrange(spec, &news);
	if (spec->network == NETWORK_OFF && (unshare(CLONE_NEWNET) < 0 || !raise_loopback()))
		news.no_network = true;
	/* Shared memory and message queues have owners but no folders: no rule for files holds them. */
	news.no_memory = unshare(CLONE_NEWIPC) < 0;
	if (spec->isolated && (news.no_memory || unshare(CLONE_NEWUTS) < 0))
		news.gaps |= GAP_BIT(GAP_NAMESPACES);
	if (write(line, &news, sizeof news) != sizeof news)
		_exit(1);
	(void)!read(line, &go, 1); /* until everything is held by the keeper */
	_exit(0);
}

/* ---- in the keeper ---- */

static int hold(pid_t maker, const char *what, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)maker, what);
	return open(path, flags | O_CLOEXEC);
}

static bool hold_all(struct namespaces *made, pid_t maker, const struct spec *spec, const struct news *news)
{
	if (news->has_user && (made->user = hold(maker, "ns/user", O_RDONLY)) < 0)
		return false;
	if (!news->no_mounts && (made->mount = hold(maker, "ns/mnt", O_RDONLY)) < 0)
		return false;
	if (spec->network == NETWORK_OFF && !news->no_network && (made->network = hold(maker, "ns/net", O_RDONLY)) < 0)
		return false;
	if (!news->no_memory && (made->memory = hold(maker, "ns/ipc", O_RDONLY)) < 0)
		return false;
	if (!news->no_mounts && (made->terminals = hold(maker, "root/dev/pts", O_PATH)) < 0 && errno != ENOENT)
		return false;
	return !spec->isolated || (made->host_name = hold(maker, "ns/uts", O_RDONLY)) >= 0;
}

static bool guide(struct namespaces *made, pid_t maker, int line, const struct spec *spec, struct news *news)
{
	if (read(line, news, sizeof *news) != sizeof *news)
		return false;
	if (news->has_user && !map_users(maker, spec)) {
		news->no_mounts = true;
		return true; /* nobody can be anybody there: as good as none */
	}
	if (write(line, "", 1) != 1 || read(line, news, sizeof *news) != sizeof *news)
		return false;
	return news->failed || hold_all(made, maker, spec, news);
}

static gaps_t left_out(const struct spec *spec, const struct news *news, const struct namespaces *made)
{
	gaps_t gaps = news->gaps;
	if (made->mount < 0)
		gaps |= GAP_BIT(GAP_MOUNTS) | GAP_BIT(GAP_METADATA);
	if (spec->network == NETWORK_OFF && made->network < 0)
		gaps |= GAP_BIT(GAP_NET_NAMESPACE);
	if (spec->isolated && (made->mount < 0 || made->user < 0))
		gaps |= GAP_BIT(GAP_NAMESPACES);
	return gaps;
}

bool namespaces_make(struct namespaces *made, const struct spec *spec, gaps_t *gaps, struct launch_failure *failure)
{
	int line[2];
	struct news news = {0};
	*made = NO_NAMESPACES;
	*failure = (struct launch_failure){"sandbox-namespace", 0};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line) < 0) {
		failure->error = errno;
		return false;
	}
	pid_t maker = fork();
	if (maker == 0) {
		close(line[0]);
		make(spec, line[1]);
	}
	close(line[1]);
	bool guided = maker > 0 && guide(made, maker, line[0], spec, &news);
	failure->error = errno;
	close(line[0]);
	while (maker > 0 && waitpid(maker, NULL, 0) < 0 && errno == EINTR)
		;
	if (!guided || news.failed) {
		namespaces_close(made);
		if (news.failed)
			*failure = (struct launch_failure){news.step, news.error};
		return false;
	}
	*gaps |= left_out(spec, &news, made);
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
	if (namespaces->memory >= 0 && setns(namespaces->memory, CLONE_NEWIPC) < 0)
		return -1;
	return namespaces->host_name < 0 ? 0 : setns(namespaces->host_name, CLONE_NEWUTS);
}

void namespaces_close(struct namespaces *namespaces)
{
	int *each[] = {&namespaces->user,   &namespaces->mount,     &namespaces->network,
		       &namespaces->memory, &namespaces->host_name, &namespaces->terminals};
	for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
		if (*each[i] >= 0)
			close(*each[i]);
		*each[i] = -1;
	}
}
