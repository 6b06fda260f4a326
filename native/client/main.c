/* The native client: the command `sallyport` without the start of Node. It sends the command line to the resident gateway
 * and prints what that answers. Everything else, and everything that the resident gateway does not answer, runs with Node:
 *
 * 1. Decide whether the command line is one that a resident gateway answers (main.c).
 * 2. Connect to the resident gateway, or start one for later command lines (resident.c).
 * 3. Send the command line, environment and working directory (resident.c).
 * 4. Print the answer or, for a command that was started, its output from the log of its session (forward.c, output.c).
 * 5. Exit with its exit code. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/node.h"
#include "client/forward.h"
#include "client/resident.h"

#define SH_NAME "sallyport-sh"
#define EXIT_DENIED 2 /* of a hook: with other codes, most hosts run the command */

extern char **environ;

static bool is_resident_command(const char *name)
{
	for (unsigned i = 0; i < sizeof resident_commands / sizeof *resident_commands; i++)
		if (strcmp(resident_commands[i], name) == 0)
			return true;
	return false;
}

/* Variables that change how Sallyport itself works. The resident gateway does not have them. */
static bool has_own_settings(void)
{
	static const char *const known[] = {"SALLYPORT_STATE=", "SALLYPORT_RESIDENT_IDLE=", "SALLYPORT_WORKSPACE="};
	for (char **variable = environ; *variable; variable++) {
		if (strncmp(*variable, "SALLYPORT_", 10) != 0)
			continue;
		bool is_known = false;
		for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
			is_known = is_known || strncmp(*variable, known[i], strlen(known[i])) == 0;
		if (!is_known)
			return true;
	}
	return false;
}

/* Reports whether a path ends with a name of the program that is the command `sh`. */
static bool is_sh(const char *path)
{
	const char *end = strrchr(path, '/');
	return strncmp(end ? end + 1 : path, SH_NAME, strlen(SH_NAME)) == 0;
}

/* Returns the position of the command, which may follow options with values that are the same for every command. Sets the
 * state folder that they name. */
static int command_position(const struct command_line *line, const char **state)
{
	static const char *const options[] = {"--state", "--agent"};
	int at = 1;
	while (at < line->argc) {
		const char *value = NULL;
		int before = at;
		for (unsigned i = 0; i < 2 && at == before; i++) {
			size_t length = strlen(options[i]);
			if (strcmp(line->argv[at], options[i]) == 0 && at + 1 < line->argc)
				value = line->argv[at + 1], at += 2;
			else if (strncmp(line->argv[at], options[i], length) == 0 && line->argv[at][length] == '=')
				value = line->argv[at] + length + 1, at += 1;
			if (value && i == 0)
				*state = value;
		}
		if (at == before)
			break;
	}
	return at;
}

/* Returns the command line. As `sallyport-sh`, this program is the command `sh`, also through a link named `bash`. */
static struct command_line command_line_of(int argc, char **argv)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = '\0';
	char **as_sh = argc > 0 && (is_sh(argv[0]) || is_sh(self)) ? calloc((size_t)argc + 2, sizeof *as_sh) : NULL;
	if (!as_sh)
		return (struct command_line){argc, argv, false, EXIT_FAILED};
	as_sh[0] = argv[0];
	as_sh[1] = (char *)"sh";
	memcpy(as_sh + 2, argv + 1, (size_t)(argc - 1) * sizeof *as_sh);
	return (struct command_line){argc + 1, as_sh, false, EXIT_FAILED};
}

static bool has_streams(void)
{
	return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
}

int main(int argc, char **argv)
{
	struct command_line line = command_line_of(argc, argv);
	struct resident resident;
	if (argc == 2 && strcmp(argv[1], "--version") == 0 && getenv("SALLYPORT_CLIENT_BUILD")) {
		printf("client %s protocol 1\n", CLIENT_BUILD); /* native/install.js tests the program */
		return 0;
	}
	const char *folder = getenv("SALLYPORT_STATE");
	int position = command_position(&line, &folder);
	if (position < line.argc) {
		const char *name = line.argv[position];
		line.only_prints = strcmp(name, "check") == 0 || strcmp(name, "hook") == 0;
		line.failure_code = strcmp(name, "hook") == 0 ? EXIT_DENIED : EXIT_FAILED;
	}
	if (position < line.argc && is_resident_command(line.argv[position]) && !has_own_settings() && getuid() == geteuid() &&
	    getgid() == getegid() && has_streams() && resident_connect(&resident, folder) && forward_take_signals() &&
	    resident_request(&resident, line.argc, line.argv))
		forward_answer(&resident, &line);
	node_run(&line);
}
