#ifndef SALLYPORT_UNSUPPORTED_H
#define SALLYPORT_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

/* Sandbox features that this machine does not support. Their names are part of the protocol. */
enum unsupported_feature {
	UNSUPPORTED_LANDLOCK,       /* no Landlock: only mounts and permissions protect files */
	UNSUPPORTED_TRUNCATE,       /* ABI < 3: files outside the writable paths can be truncated */
	UNSUPPORTED_IOCTL_DEV,      /* ABI < 5: ioctls on devices are allowed */
	UNSUPPORTED_SCOPE_ABSTRACT, /* ABI < 6: abstract Unix sockets of other processes are reachable */
	UNSUPPORTED_SCOPE_SIGNALS,  /* ABI < 6: processes of the same user can be signaled */
	UNSUPPORTED_PORTS,          /* ABI < 4: TCP is not restricted to the listed ports */
	UNSUPPORTED_UDP,            /* port 53 is listed, and UDP is not restricted to it */
	UNSUPPORTED_MOUNTS,         /* no mount namespace: paths in writable directories cannot be masked */
	UNSUPPORTED_METADATA,       /* no mount namespace: modes, owners and times of all files can be changed */
	UNSUPPORTED_DENIED_LATER,   /* a denied path in a writable directory does not exist, so it cannot be masked */
	UNSUPPORTED_NAMESPACES,     /* isolated, but some namespaces are not available */
	UNSUPPORTED_NET_NAMESPACE,  /* network off without a network namespace: all sockets are rejected */
	UNSUPPORTED_SECCOMP,        /* no system call filter */
	UNSUPPORTED_COUNT,
};

typedef uint32_t unsupported_t;
#define UNSUPPORTED_BIT(feature) (1u << (feature))

/* Returns the name of a feature in the protocol. */
const char *unsupported_name(unsigned feature);

/* Formats the names of the features as a JSON array and returns its length. */
#define UNSUPPORTED_TEXT_MAX 256
size_t unsupported_format(unsupported_t unsupported, char text[UNSUPPORTED_TEXT_MAX]);

#endif
