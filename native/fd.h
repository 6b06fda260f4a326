#ifndef SALLYPORT_FD_H
#define SALLYPORT_FD_H

#include <errno.h>
#include <unistd.h>

/* Closes FD, unless it is -1, and returns RESULT. Preserves errno. */
static inline int close_keep_errno(int fd, int result)
{
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return result;
}

#endif
