#ifndef SALLYPORT_LANDLOCK_H
#define SALLYPORT_LANDLOCK_H

#include <stdint.h>

#include "sandbox/path_fingerprints.h"
#include "sandbox/spec.h"

/* Landlock system calls. The functions take the ABI version as an argument, so that tests can use older versions. */

/* Access rights of a rule, with the values of the kernel. */
#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_REMOVE_DIR (1ull << 4)
#define FS_REMOVE_FILE (1ull << 5)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_DIR (1ull << 7)
#define FS_MAKE_REG (1ull << 8)
#define FS_MAKE_SOCK (1ull << 9)
#define FS_MAKE_FIFO (1ull << 10)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_MAKE_SYM (1ull << 12)
#define FS_REFER (1ull << 13)        /* ABI 2 */
#define FS_TRUNCATE (1ull << 14)     /* ABI 3 */
#define FS_IOCTL_DEV (1ull << 15)    /* ABI 5 */
#define FS_RESOLVE_UNIX (1ull << 16) /* ABI 9: connecting to a Unix socket that was created outside the sandbox */

#define FS_READ (FS_EXECUTE | FS_READ_FILE)
#define FS_WRITE                                                                                                       \
	(FS_WRITE_FILE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO |    \
	 FS_MAKE_SYM | FS_REFER | FS_TRUNCATE)
#define FS_OF_FILES (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* Returns the Landlock ABI version of this kernel, or 0 if Landlock is not available. */
int landlock_abi(void);

/* Creates an empty ruleset that denies all file access that ABI can control, with the network rules of SPEC. Returns a
 * descriptor, or -1 with errno. */
int landlock_create(const struct sandbox_spec *spec, int abi);

/* Grants ACCESS to FD and everything below, as far as ABI supports it. Returns 0, or -1 with errno. Async-signal-safe.
 * */
int landlock_add_path(int ruleset, int abi, int fd, uint64_t access);

/* Applies RULESET to the calling process and its descendants. Requires no_new_privs. Async-signal-safe. */
int landlock_restrict(int ruleset);

/* ---- landlock_rules.c ---- */

/* Builds the rules of SPEC. A directory that contains denied paths is granted entry by entry, so that a denied path
 * stays denied if it is created later. Adds the paths that it examined to FINGERPRINTS. Returns the ruleset, or -1 with
 * errno. */
int landlock_rules_build(const struct sandbox_spec *spec, int abi, struct path_fingerprints *fingerprints);

/* Both functions add a rule for a path that exists only in the namespaces of the command. FD is a directory to read, or
 * the command's /dev/pts. They return 0, or -1 with errno. Async-signal-safe. */
int landlock_rules_add_read(int ruleset, int abi, int fd);
int landlock_rules_add_devpts(int ruleset, int abi, int fd);

#endif
