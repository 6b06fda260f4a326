#include "io/output_reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

int output_reader_wait(void)
{
	pid_t parent = getppid();
	/* As long as this process has the pipe open, its reader gets no end of file. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return 1;
	/* The kernel reports errors without being asked for events. */
	struct pollfd output = {.fd = STDOUT_FILENO};
	while (poll(&output, 1, -1) < 0)
		if (errno != EINTR)
			return 1;
	return output.revents & (POLLERR | POLLHUP) ? 0 : 1;
}
