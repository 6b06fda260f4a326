#include "process/oom_score.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROTECTED (-900)
#define COMMAND_ADDS 100 /* as if the command used a tenth of the memory in addition */
#define HIGHEST 1000

static int own, command; /* adjustments of keepers and of commands */

static int open_score(pid_t pid, int flags)
{
	char path[48];
	snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
	return open(path, flags | O_CLOEXEC);
}

static bool write_score(pid_t pid, int score)
{
	char text[12];
	int length = snprintf(text, sizeof text, "%d", score), fd = open_score(pid, O_WRONLY);
	bool written = fd >= 0 && write(fd, text, (size_t)length) == length;
	if (fd >= 0)
		close(fd);
	return written;
}

void oom_score_protect(void)
{
	char text[12] = "";
	int fd = open_score(getpid(), O_RDONLY);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof text - 1) > 0) {
		own = atoi(text);
		command = own + COMMAND_ADDS < HIGHEST ? own + COMMAND_ADDS : HIGHEST;
		if (own > PROTECTED && write_score(getpid(), PROTECTED))
			own = PROTECTED;
	}
	close(fd);
}

void oom_score_begin_launch(void)
{
	if (command > own && geteuid() == 0)
		(void)write_score(getpid(), command);
}

void oom_score_end_launch(pid_t pid)
{
	if (command > own && geteuid() == 0)
		(void)write_score(getpid(), own);
	else if (command > own && pid > 0)
		(void)write_score(pid, command);
}
