#include "sandbox/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What root's programs in a workspace need: files of several owners, other users for their parts, low ports. What is
 * gone with the rest: raw disks and memory, mounts, modules, files by their handle (DAC_READ_SEARCH), device nodes,
 * raw packets, limits, the clock, and file capabilities, which would outlive the command. */
static const unsigned char kept[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,          CAP_FSETID,
				     CAP_SETGID, CAP_SETUID,       CAP_NET_BIND_SERVICE};

int capabilities_drop(bool signals_scoped)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];
	uint64_t keep = signals_scoped ? 1ull << CAP_KILL : 0;
	for (unsigned i = 0; i < sizeof kept; i++)
		keep |= 1ull << kept[i];
	/* EINVAL: past the last one. Whoever may not drop them (EPERM) cannot gain them either: no_new_privs. */
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
