#include <stdlib.h>
#include <sys/syscall.h>

#include "sandbox/seccomp/program.h"

/* System call numbers that older headers lack. All architectures use the same numbers from 424 on. */
#define SINCE_424(name, number) enum { NUMBER_##name = number }
SINCE_424(pidfd_send_signal, 424);
SINCE_424(io_uring_setup, 425);
SINCE_424(io_uring_enter, 426);
SINCE_424(io_uring_register, 427);
SINCE_424(open_tree, 428);
SINCE_424(move_mount, 429);
SINCE_424(fsopen, 430);
SINCE_424(fsconfig, 431);
SINCE_424(fsmount, 432);
SINCE_424(fspick, 433);
SINCE_424(clone3, 435);
SINCE_424(openat2, 437);
SINCE_424(pidfd_getfd, 438);
SINCE_424(mount_setattr, 442);
SINCE_424(quotactl_fd, 443);
SINCE_424(fchmodat2, 452);
SINCE_424(open_tree_attr, 467);

static struct syscall_rule calls[] = {
#define CALL(name, check) {SYS_##name, SYS_##name, check}
#define NEW_CALL(name, check) {NUMBER_##name, NUMBER_##name, check}
	/* File system tree. */
	CALL(mount, CHECK_REFUSED),
	CALL(umount2, CHECK_REFUSED),
	CALL(pivot_root, CHECK_REFUSED),
	CALL(chroot, CHECK_REFUSED),
	NEW_CALL(open_tree, CHECK_REFUSED),
	NEW_CALL(move_mount, CHECK_REFUSED),
	NEW_CALL(fsopen, CHECK_REFUSED),
	NEW_CALL(fsconfig, CHECK_REFUSED),
	NEW_CALL(fsmount, CHECK_REFUSED),
	NEW_CALL(fspick, CHECK_REFUSED),
	NEW_CALL(mount_setattr, CHECK_REFUSED),
	NEW_CALL(open_tree_attr, CHECK_REFUSED),
	CALL(open_by_handle_at, CHECK_REFUSED),
	CALL(quotactl, CHECK_REFUSED),
	NEW_CALL(quotactl_fd, CHECK_REFUSED),
	/* Kernel. */
	CALL(kexec_load, CHECK_REFUSED),
	CALL(init_module, CHECK_REFUSED),
	CALL(finit_module, CHECK_REFUSED),
	CALL(delete_module, CHECK_REFUSED),
	CALL(bpf, CHECK_REFUSED),
	CALL(perf_event_open, CHECK_REFUSED),
	CALL(userfaultfd, CHECK_REFUSED),
	NEW_CALL(io_uring_setup, CHECK_REFUSED),
	NEW_CALL(io_uring_enter, CHECK_REFUSED),
	NEW_CALL(io_uring_register, CHECK_REFUSED),
	/* Machine. */
	CALL(reboot, CHECK_REFUSED),
	CALL(swapon, CHECK_REFUSED),
	CALL(swapoff, CHECK_REFUSED),
	CALL(acct, CHECK_REFUSED),
	CALL(settimeofday, CHECK_REFUSED),
	CALL(clock_settime, CHECK_REFUSED),
	CALL(sethostname, CHECK_REFUSED),
	CALL(setdomainname, CHECK_REFUSED),
	/* Keyrings of the user and the session, which the gateway shares. */
	CALL(add_key, CHECK_REFUSED),
	CALL(request_key, CHECK_REFUSED),
	CALL(keyctl, CHECK_REFUSED),
	/* Namespaces. */
	CALL(setns, CHECK_REFUSED),
	CALL(unshare, CHECK_UNSHARE),
	CALL(clone, CHECK_CLONE),
	NEW_CALL(clone3, CHECK_UNKNOWN),
	/* Memory and descriptors of other processes. */
	CALL(ptrace, CHECK_TRACING),
	CALL(process_vm_readv, CHECK_TRACING),
	CALL(process_vm_writev, CHECK_TRACING),
	CALL(kcmp, CHECK_TRACING),
	CALL(prlimit64, CHECK_PRLIMIT),
	CALL(migrate_pages, CHECK_OWN),
	CALL(move_pages, CHECK_OWN),
	NEW_CALL(pidfd_getfd, CHECK_TRACING),
	/* Scheduling of other processes. */
	CALL(sched_setaffinity, CHECK_PID),
	CALL(sched_setscheduler, CHECK_PID),
	CALL(sched_setparam, CHECK_PID),
	CALL(sched_setattr, CHECK_PID),
	CALL(setpriority, CHECK_PRIORITY),
	CALL(ioprio_set, CHECK_IO_PRIORITY),
	CALL(prctl, CHECK_SCHED_CORE),
	/* Signals. */
	CALL(kill, CHECK_KILL),
	CALL(tkill, CHECK_SIGNAL),
	CALL(tgkill, CHECK_SIGNAL),
	CALL(rt_sigqueueinfo, CHECK_SIGNAL),
	CALL(rt_tgsigqueueinfo, CHECK_SIGNAL),
	NEW_CALL(pidfd_send_signal, CHECK_SIGNAL),
	CALL(fcntl, CHECK_FCNTL),
	/* Modes and devices of new files. */
	CALL(fchmod, CHECK_MODE_SECOND),
	CALL(fchmodat, CHECK_MODE_THIRD),
	NEW_CALL(fchmodat2, CHECK_MODE_THIRD),
	CALL(openat, CHECK_OPENAT),
	NEW_CALL(openat2, CHECK_UNKNOWN),
	CALL(mknodat, CHECK_MKNODAT),
	/* Network. */
	CALL(socket, CHECK_SOCKET),
	CALL(socketpair, CHECK_SOCKETPAIR),
	CALL(sendto, CHECK_SENDTO),
	CALL(sendmsg, CHECK_SENDMSG),
	CALL(sendmmsg, CHECK_SENDTO),
	CALL(connect, CHECK_CONNECT),
	CALL(listen, CHECK_LISTEN),
	/* Others. */
	CALL(ioctl, CHECK_IOCTL),
	CALL(personality, CHECK_PERSONALITY),
#ifdef SYS_kexec_file_load
	CALL(kexec_file_load, CHECK_REFUSED),
#endif
#ifdef __x86_64__
	CALL(iopl, CHECK_REFUSED),
	CALL(ioperm, CHECK_REFUSED),
	CALL(modify_ldt, CHECK_REFUSED),
	CALL(uselib, CHECK_REFUSED),
	CALL(chmod, CHECK_MODE_SECOND),
	CALL(creat, CHECK_MODE_SECOND),
	CALL(open, CHECK_OPEN),
	CALL(mknod, CHECK_MKNOD),
#endif
};

static int by_number(const void *one, const void *other)
{
	const struct syscall_rule *a = one, *b = other;
	return a->first < b->first ? -1 : a->first > b->first;
}

const struct syscall_rule *syscall_rules(size_t *count)
{
	static size_t merged;
	if (merged == 0) {
		size_t all = sizeof calls / sizeof *calls;
		qsort(calls, all, sizeof *calls, by_number);
		for (size_t i = 1; i < all; i++) {
			if (calls[i].check == calls[merged].check && calls[i].first == calls[merged].last + 1)
				calls[merged].last = calls[i].last;
			else
				calls[++merged] = calls[i];
		}
		merged++;
	}
	*count = merged;
	return calls;
}
