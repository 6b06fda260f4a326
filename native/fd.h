#ifndef SALLYPORT_FD_H
#define SALLYPORT_FD_H

#include <errno.h>
#include <unistd.h>

/* Closes what may be open (-1: nothing) on the way out of a function, and hands RESULT and errno on as they were. */
static inline int close_keep_errno(int fd, int result)
{
	int error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return result;
}

#endif
