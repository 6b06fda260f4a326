#ifndef SALLYPORT_UNSUPPORTED_H
#define SALLYPORT_UNSUPPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/spec.h"

/* What the documentation promises about a sandboxed command and this machine does not enforce. Their names are part of
 * the protocol. A feature that is missing but whose promise another mechanism keeps is not listed. */
enum unsupported_feature {
	UNSUPPORTED_LANDLOCK,       /* denied paths that are created later, and device files, are not protected */
	UNSUPPORTED_TRUNCATE,       /* files outside the writable paths can be truncated */
	UNSUPPORTED_SCOPE_ABSTRACT, /* abstract Unix sockets of other processes are reachable */
	UNSUPPORTED_SCOPE_SIGNALS,  /* processes of the same user can be signaled */
	UNSUPPORTED_PORTS,          /* TCP is not restricted to the listed ports */
	UNSUPPORTED_MOUNTS,         /* protected paths, and denied paths in writable directories, are not protected */
	UNSUPPORTED_METADATA,       /* modes, owners and times of all files can be changed */
	UNSUPPORTED_IPC,            /* System V IPC objects and message queues of other processes are reachable */
	UNSUPPORTED_DENIED_LATER,   /* a denied path in a writable directory does not exist, so it cannot be masked */
	UNSUPPORTED_NAMESPACES,     /* isolated, but some namespaces are not available */
	UNSUPPORTED_SECCOMP,        /* system calls are not filtered */
	UNSUPPORTED_MASK_MONITOR,   /* limits of inotify are exhausted: not every broken mask is detected */
	UNSUPPORTED_PROCESSES,      /* /proc leads to the files of other processes of the user */
	UNSUPPORTED_COUNT,
};

typedef uint32_t unsupported_t;
#define UNSUPPORTED_BIT(feature) (1u << (feature))

/* The kernel features that a command runs with. */
struct mechanisms {
	int landlock_abi; /* 0 if there is no Landlock */
	bool mounts, ipc, seccomp, broker;
	bool pid_namespace; /* the command sees and reaches only its own processes */
	bool isolation;     /* all namespaces of an isolated sandbox */
};

/* Returns the promises about SPEC that MECHANISMS do not keep. UNSUPPORTED_DENIED_LATER depends on the file system and
 * is found when the mounts are set up. */
unsupported_t unsupported_find(const struct sandbox_spec *spec, const struct mechanisms *mechanisms);

/* Returns the name of a feature in the protocol. */
const char *unsupported_name(unsigned feature);

/* Formats the names of the features as a JSON array and returns its length. */
#define UNSUPPORTED_TEXT_MAX 512
size_t unsupported_format(unsupported_t unsupported, char text[UNSUPPORTED_TEXT_MAX]);

#endif
