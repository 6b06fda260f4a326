#ifndef SALLYPORT_UNSUPPORTED_H
#define SALLYPORT_UNSUPPORTED_H

#include <stddef.h>
#include <stdint.h>

/* What of a sandbox this machine cannot do, and was left out. The names are part of the protocol. */
enum unsupported_feature {
	UNSUPPORTED_LANDLOCK,       /* no Landlock at all: files are kept by mounts and permissions alone */
	UNSUPPORTED_TRUNCATE,       /* ABI < 3: a file outside can be cut short by its path */
	UNSUPPORTED_IOCTL_DEV,      /* ABI < 5: ioctls on devices are not held back */
	UNSUPPORTED_SCOPE_ABSTRACT, /* ABI < 6: abstract unix sockets of others can be reached */
	UNSUPPORTED_SCOPE_SIGNALS,  /* ABI < 6: processes of the same user can be signalled */
	UNSUPPORTED_PORTS,          /* ABI < 4: TCP ports are not limited to the listed */
	UNSUPPORTED_UDP,            /* port 53 is listed, and UDP cannot be limited to it */
	UNSUPPORTED_MOUNTS,         /* no mount namespace: read-only spots and what denied lies in writable folders */
	UNSUPPORTED_METADATA,       /* no mount namespace: modes, owners and times outside can be changed */
	UNSUPPORTED_DENIED_LATER, /* a denied path in a writable folder that does not exist: nothing can be put over it */
	UNSUPPORTED_NAMESPACES,   /* isolated: not all namespaces could be had */
	UNSUPPORTED_NET_NAMESPACE, /* network off without a loopback of its own: sockets are refused altogether */
	UNSUPPORTED_SECCOMP,       /* no filter for system calls */
	UNSUPPORTED_COUNT,
};

typedef uint32_t unsupported_t;
#define UNSUPPORTED_BIT(feature) (1u << (feature))

/* The name of a feature in the protocol. */
const char *unsupported_name(unsigned feature);

/* The names as a JSON array. Returns its length; ROOM must be UNSUPPORTED_TEXT_MAX. */
#define UNSUPPORTED_TEXT_MAX 256
size_t unsupported_format(unsupported_t unsupported, char text[UNSUPPORTED_TEXT_MAX]);

#endif
