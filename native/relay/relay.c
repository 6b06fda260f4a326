/* The relay runs inside the sandbox of an agent's program, which cannot start commands outside of it. As `bash`, it asks
 * the gateway that started the agent to run a shell command, and passes on its input, output, signals and exit code. As
 * `sallyport-relay mcp`, it connects the agent to that gateway's MCP server.
 *
 * The gateway listens on `../channel`, relative to the folder of this program. Only the sandbox of the agent's session
 * allows a connection to it. The gateway decides on everything; the relay only copies bytes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

#include "relay/frames.h"

/* As for `sallyport run`: Sallyport failed. */
#define EXIT_FAILED 125
#define VERSION "sallyport-relay 1"

extern char **environ;

static int signal_pipe[2];
static struct termios saved_terminal;
static bool terminal_saved;

static void restore_terminal(void)
{
	if (terminal_saved)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
}

static void fail(const char *what, const char *why)
{
	restore_terminal();
	fprintf(stderr, "sallyport: %s: %s\n", what, why);
	fputs("  The command did not run. Commands of this agent need the gateway that `sallyport agent` started.\n", stderr);
	exit(EXIT_FAILED);
}

static void note_signal(int signal)
{
	int error = errno;
	unsigned char byte = (unsigned char)signal;
	if (write(signal_pipe[1], &byte, 1) < 0) {
		/* The pipe is full of signals that have not been passed on yet. */
	}
	errno = error;
}

static void catch_signals(void)
{
	static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
	if (pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		fail("cannot create a pipe", strerror(errno));
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		sigaction(passed_on[i], &action, NULL);
}

/* Writes the path of the socket to PATH. It is found beside this program, so that no variable can redirect it. */
static void find_channel(char *path, size_t size)
{
	static const char name[] = "channel";
	ssize_t length = readlink("/proc/self/exe", path, size);
	if (length < 0 || (size_t)length >= size)
		fail("cannot find the channel", length < 0 ? strerror(errno) : "the path is too long");
	path[length] = '\0';
	for (int parents = 0; parents < 2; parents++) {
		char *slash = strrchr(path, '/');
		if (!slash)
			fail("cannot find the channel", "this program has no parent folder");
		*slash = '\0';
	}
	size_t used = strlen(path);
	if (used + 1 + sizeof name > size)
		fail("cannot find the channel", "the path is too long");
	path[used] = '/';
	memcpy(path + used + 1, name, sizeof name);
}

static int connect_channel(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	find_channel(address.sun_path, sizeof address.sun_path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		fail("cannot reach the gateway of this agent", strerror(errno));
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		fail("cannot use the channel", strerror(errno));
	return fd;
}

enum input { INPUT_NONE, INPUT_STREAM, INPUT_TERMINAL };

/* Returns what stdin is. A character device such as /dev/null, and a terminal without a terminal on stdout, which
 * belongs to the agent's own screen, count as no input. */
static enum input input_kind(void)
{
	struct stat status;
	if (fstat(STDIN_FILENO, &status) < 0)
		return INPUT_NONE;
	if (isatty(STDIN_FILENO))
		return isatty(STDOUT_FILENO) ? INPUT_TERMINAL : INPUT_NONE;
	return S_ISCHR(status.st_mode) || S_ISDIR(status.st_mode) ? INPUT_NONE : INPUT_STREAM;
}

static void window_size(char text[32])
{
	struct winsize size = {0};
	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 || size.ws_row == 0)
		size = (struct winsize){.ws_col = 80, .ws_row = 24};
	snprintf(text, 32, "%ux%u", size.ws_col, size.ws_row);
}

/* The bytes that wait to be sent. Input is read only when there are none, so they do not grow. */
static struct outgoing {
	char *bytes;
	size_t length, sent, room;
} outgoing;

static void append(const void *bytes, size_t length)
{
	if (outgoing.room - outgoing.length < length) {
		outgoing.room = outgoing.length + length + 4096;
		outgoing.bytes = realloc(outgoing.bytes, outgoing.room);
		if (!outgoing.bytes)
			fail("cannot send the command", strerror(ENOMEM));
	}
	memcpy(outgoing.bytes + outgoing.length, bytes, length);
	outgoing.length += length;
}

static void append_frame(char type, const void *bytes, size_t length)
{
	unsigned char header[FRAME_HEADER];
	frame_header(header, type, (uint32_t)length);
	append(header, sizeof header);
	append(bytes, length);
}

static void append_text(const char *text)
{
	append(text, strlen(text) + 1);
}

/* Appends the first frame: the version, the mode, the working directory, the input, the number of arguments, the
 * arguments, and the environment, each followed by a NUL byte. */
static void append_hello(const char *mode, enum input input, int argc, char **argv)
{
	char size[32], count[16], *folder = getcwd(NULL, 0);
	size_t start = outgoing.length;
	append("\0\0\0\0\0", FRAME_HEADER);
	append_text(VERSION);
	append_text(mode);
	append_text(folder ? folder : "");
	window_size(size);
	append_text(input == INPUT_TERMINAL ? size : input == INPUT_STREAM ? "stream" : "none");
	snprintf(count, sizeof count, "%d", argc);
	append_text(count);
	for (int i = 0; i < argc; i++)
		append_text(argv[i]);
	for (char **variable = environ; *variable; variable++)
		append_text(*variable);
	free(folder);
	size_t length = outgoing.length - start - FRAME_HEADER;
	frame_header((unsigned char *)outgoing.bytes + start, FRAME_HELLO, (uint32_t)length);
}

static void send_outgoing(int channel)
{
	while (outgoing.sent < outgoing.length) {
		ssize_t n = send(channel, outgoing.bytes + outgoing.sent, outgoing.length - outgoing.sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0) {
			/* The gateway has closed the channel. What it sent before is still read. */
			outgoing.sent = outgoing.length;
			break;
		}
		outgoing.sent += (size_t)n;
	}
	outgoing.sent = outgoing.length = 0;
}

static void write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, bytes, length);
		if (n < 0 && errno == EAGAIN) {
			struct pollfd writable = {fd, POLLOUT, 0};
			poll(&writable, 1, -1);
		} else if (n < 0 && errno != EINTR) {
			restore_terminal();
			exit(EXIT_FAILED);
		} else if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		}
	}
}

/* Whether the gateway still handles the last frame with input. One frame at a time is sent, so that neither side has to
 * keep more, and the gateway always reads and notices when this program ends. */
static bool input_is_pending;

static void receive(const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_ACCEPTED: input_is_pending = false; break;
	case FRAME_STDOUT: write_all(STDOUT_FILENO, frame->bytes, frame->length); break;
	case FRAME_STDERR: write_all(STDERR_FILENO, frame->bytes, frame->length); break;
	case FRAME_EXIT:
		restore_terminal();
		exit(frame->length == 1 ? (unsigned char)frame->bytes[0] : EXIT_FAILED);
	default: fail("the gateway sent an unknown message", "it may have been upgraded; start the agent again");
	}
}

static void read_channel(int channel)
{
	static struct frame_reader reader;
	struct frame frame;
	ssize_t n = frame_reader_fill(&reader, channel);
	if (n == 0)
		fail("the gateway of this agent ended", "the result of the command is unknown");
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		fail("cannot read from the gateway", strerror(errno));
	while (frame_reader_next(&reader, &frame))
		receive(&frame);
}

/* Returns whether more input may follow. */
static bool read_input(void)
{
	static char bytes[32768];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	input_is_pending = n > 0;
	if (n > 0)
		append_frame(FRAME_STDIN, bytes, (size_t)n);
	else
		append_frame(FRAME_END, "", 0);
	return n > 0;
}

static void pass_on_signals(void)
{
	unsigned char signal;
	char size[32];
	while (read(signal_pipe[0], &signal, 1) == 1) {
		if (signal != SIGWINCH) {
			append_frame(FRAME_SIGNAL, &signal, 1);
			continue;
		}
		window_size(size);
		append_frame(FRAME_SIZE, size, strlen(size));
	}
}

static void copy(int channel, bool reads_input)
{
	for (;;) {
		bool sends = outgoing.length > 0;
		struct pollfd polled[] = {
			{channel, (short)(POLLIN | (sends ? POLLOUT : 0)), 0},
			{signal_pipe[0], POLLIN, 0},
			{reads_input && !sends && !input_is_pending ? STDIN_FILENO : -1, POLLIN, 0},
		};
		if (poll(polled, 3, -1) < 0 && errno != EINTR)
			fail("cannot wait for the gateway", strerror(errno));
		if (polled[1].revents)
			pass_on_signals();
		if (polled[2].revents)
			reads_input = read_input();
		if (outgoing.length > 0)
			send_outgoing(channel);
		if (polled[0].revents & (POLLIN | POLLHUP | POLLERR))
			read_channel(channel);
	}
}

static void use_raw_terminal(void)
{
	if (tcgetattr(STDIN_FILENO, &saved_terminal) < 0)
		return;
	terminal_saved = true;
	struct termios raw = saved_terminal;
	cfmakeraw(&raw);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0] ? argv[0] : "", '/');
	const char *name = slash ? slash + 1 : argv[0] ? argv[0] : "";
	bool is_relay = strcmp(name, "sallyport-relay") == 0;
	bool is_mcp = is_relay && argc == 2 && strcmp(argv[1], "mcp") == 0;
	if (is_relay && !is_mcp) {
		fputs("usage: sallyport-relay mcp\n", stderr);
		return EXIT_FAILED;
	}
	catch_signals();
	enum input input = is_mcp ? INPUT_STREAM : input_kind();
	int channel = connect_channel();
	append_hello(is_mcp ? "mcp" : "shell", input, argc, argv);
	if (input == INPUT_TERMINAL)
		use_raw_terminal();
	copy(channel, input != INPUT_NONE);
}
