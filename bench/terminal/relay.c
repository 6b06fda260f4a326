/* A minimal relay process, whose cost is the lower bound for any process between a client and a terminal. It forwards
 * input from a socket to a program on a terminal, and stores the output in a file and sends it back. It applies no
 * policy and keeps no records, and exits when the connection is closed.
 *
 *   relay SOCKET FILE COMMAND */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_terminal(int *slave)
{
	int locked = 0, master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (master < 0 || ioctl(master, TIOCSPTLCK, &locked) < 0)
		return -1;
	*slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	return *slave < 0 ? -1 : master;
}

static pid_t start(const char *command, int slave)
{
	pid_t child = fork();
	if (child != 0)
		return child;
	setsid();
	ioctl(slave, TIOCSCTTY, 0);
	for (int fd = 0; fd < 3; fd++)
		dup2(slave, fd);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int await_caller(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, 1) < 0)
		return -1;
	if (write(1, "ready\n", 6) != 6)
		return -1;
	return accept(listener, NULL, NULL);
}

static void relay(int caller, int master, int file)
{
	char bytes[4096];
	for (;;) {
		struct pollfd fds[2] = {{.fd = caller, .events = POLLIN}, {.fd = master, .events = POLLIN}};
		if (poll(fds, 2, -1) < 0)
			return;
		if (fds[0].revents) {
			ssize_t n = read(caller, bytes, sizeof bytes);
			if (n <= 0 || write(master, bytes, (size_t)n) != n)
				return;
		}
		if (fds[1].revents) {
			ssize_t n = read(master, bytes, sizeof bytes);
			if (n <= 0 || write(file, bytes, (size_t)n) != n || send(caller, bytes, (size_t)n, MSG_NOSIGNAL) != n)
				return;
		}
	}
}

int main(int count, char **words)
{
	int slave, master = count == 4 ? open_terminal(&slave) : -1;
	if (master < 0)
		return 1;
	pid_t child = start(words[3], slave);
	int file = open(words[2], O_WRONLY | O_CREAT | O_TRUNC, 0600), caller = await_caller(words[1]);
	if (child > 0 && file >= 0 && caller >= 0)
		relay(caller, master, file);
	if (child > 0)
		kill(-child, SIGKILL);
	return 0;
}
