#ifndef SALLYPORT_UNSUPPORTED_H
#define SALLYPORT_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

/* Sandbox features that this machine does not support. Their names are part of the protocol. */
enum unsupported_feature {
	UNSUPPORTED_LANDLOCK,       /* no Landlock: only mounts and permissions protect files */
	UNSUPPORTED_TRUNCATE,       /* ABI < 3: files outside can be truncated by path */
	UNSUPPORTED_IOCTL_DEV,      /* ABI < 5: ioctls on devices are allowed */
	UNSUPPORTED_SCOPE_ABSTRACT, /* ABI < 6: abstract unix sockets of others are reachable */
	UNSUPPORTED_SCOPE_SIGNALS,  /* ABI < 6: processes of the same user can be signalled */
	UNSUPPORTED_PORTS,          /* ABI < 4: TCP is not limited to the listed ports */
	UNSUPPORTED_UDP,            /* port 53 is listed, and UDP is not limited to it */
	UNSUPPORTED_MOUNTS,         /* no mount namespace: protected and denied paths in writable directories */
	UNSUPPORTED_METADATA,       /* no mount namespace: modes, owners and times outside can be changed */
	UNSUPPORTED_DENIED_LATER,   /* a denied path in a writable directory is missing, so it cannot be masked */
	UNSUPPORTED_NAMESPACES,     /* isolated, but some namespaces are missing */
	UNSUPPORTED_NET_NAMESPACE,  /* network off without a loopback: all sockets are refused */
	UNSUPPORTED_SECCOMP,        /* no system call filter */
	UNSUPPORTED_COUNT,
};

typedef uint32_t unsupported_t;
#define UNSUPPORTED_BIT(feature) (1u << (feature))

/* The name of a feature in the protocol. */
const char *unsupported_name(unsigned feature);

/* Formats the names as a JSON array. Returns its length. TEXT has UNSUPPORTED_TEXT_MAX bytes. */
#define UNSUPPORTED_TEXT_MAX 256
size_t unsupported_format(unsupported_t unsupported, char text[UNSUPPORTED_TEXT_MAX]);

#endif
