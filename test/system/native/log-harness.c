/* Logs from several processes at once. Built together with native/log.c.
 * usage: log-harness FOLDER LEVEL PROCESSES LINES */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int folder = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC), processes = atoi(argv[3]), lines = atoi(argv[4]);
	log_open(folder, log_level_of(argv[2]));
	log_error("parent", "an error");
	log_warn("parent", "a warning\nwith a second line");
	log_info("parent", "some information");
	log_debug("parent", "a detail");
	if (vfork() == 0) {
		log_error("child", "a child that does not log");
		_exit(0);
	}
	for (int i = 0; i < processes; i++) {
		if (fork() != 0)
			continue;
		log_adopt();
		for (int line = 0; line < lines; line++) {
			errno = ENOTTY;
			log_error("child", "line %d of process %d, with some more text to fill the file", line, i);
			if (errno != ENOTTY)
				_exit(1);
		}
		_exit(0);
	}
	int status, failed = 0;
	while (wait(&status) > 0)
		failed |= status;
	if (processes > 0) {
		usleep(1100000); /* the next window, in which lines are written again */
		log_error("parent", "the last line");
	}
	if (fork() == 0)
		_exit(log_first(LOG_UNENFORCED_CPU));
	wait(&status);
	printf("%d %d\n", WEXITSTATUS(status), log_first(LOG_UNENFORCED_CPU));
	return failed != 0;
}
