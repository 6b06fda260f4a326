#ifndef SALLYPORT_GAPS_H
#define SALLYPORT_GAPS_H

#include <stddef.h>
#include <stdint.h>

/* What of a sandbox this machine cannot do, and was left out. The names are part of the protocol. */
enum gap {
	GAP_LANDLOCK,       /* no Landlock at all: files are kept by mounts and permissions alone */
	GAP_TRUNCATE,       /* ABI < 3: a file outside can be cut short by its path */
	GAP_IOCTL_DEV,      /* ABI < 5: ioctls on devices are not held back */
	GAP_SCOPE_ABSTRACT, /* ABI < 6: abstract unix sockets of others can be reached */
	GAP_SCOPE_SIGNALS,  /* ABI < 6: processes of the same user can be signalled */
	GAP_PORTS,          /* ABI < 4: TCP ports are not limited to the listed */
	GAP_UDP,            /* port 53 is listed, and UDP cannot be limited to it */
	GAP_MOUNTS,         /* no mount namespace: read-only spots and what denied lies in writable folders */
	GAP_METADATA,       /* no mount namespace: modes, owners and times outside can be changed */
	GAP_DENIED_LATER,   /* a denied path in a writable folder that does not exist: nothing can be put over it */
	GAP_NAMESPACES,     /* isolated: not all namespaces could be had */
	GAP_NET_NAMESPACE,  /* network off without a loopback of its own: sockets are refused altogether */
	GAP_SECCOMP,        /* no filter for system calls */
	GAP_COUNT,
};

typedef uint32_t gaps_t;
#define GAP_BIT(gap) (1u << (gap))

/* The names as a JSON array. Returns its length; ROOM must be GAPS_TEXT_MAX. */
#define GAPS_TEXT_MAX 256
size_t gaps_format(gaps_t gaps, char text[GAPS_TEXT_MAX]);

#endif
