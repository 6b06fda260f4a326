#include "client/node.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/node_path.h"

/* Set for the Node that this program starts, and removed by bin/sallyport.js. A `node` that is a script for a shell named
 * after this program would start this program again, without end. */
#define STARTED_VARIABLE "SALLYPORT_STARTS_NODE"

/* Finds the folder of this program, with a slash at its end. */
static bool find_folder(char folder[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	folder[n > 0 ? n : 0] = '\0';
	char *end = strrchr(folder, '/');
	if (end)
		end[1] = '\0';
	return end;
}

/* Finds the script next to this program, or in the checkout in which it was built. */
static bool find_script(const char *folder, char script[PATH_MAX])
{
	static const char *const places[] = {"sallyport.js", "../../bin/sallyport.js"};
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		int length = snprintf(script, PATH_MAX, "%s%s", folder, places[i]);
		if (length > 0 && length < PATH_MAX && access(script, R_OK) == 0)
			return true;
	}
	return false;
}

__attribute__((noreturn, format(printf, 3, 4))) static void fail(const struct command_line *line, int code,
								 const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("sallyport: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	_exit(line->failure_code != EXIT_FAILED ? line->failure_code : code);
}

void node_run(const struct command_line *line)
{
	char folder[PATH_MAX], script[PATH_MAX], node[PATH_MAX];
	char **argv = calloc((size_t)line->argc + 2, sizeof *argv);
	int used = 0;
	if (!find_folder(folder) || !find_script(folder, script))
		fail(line, EXIT_FAILED, "bin/sallyport.js is missing. Install the package again.");
	if (!argv)
		fail(line, EXIT_FAILED, "out of memory");
	switch (node_path_find(folder, node)) {
	case NODE_FOUND: break;
	case NODE_MISSING:
		fail(line, 127, "cannot run node: it is not on PATH; install Node 22.19 or newer from https://nodejs.org.");
	case NODE_REPLACEABLE:
		fail(line, 126, "cannot run node: commands or other users could replace %s; put a folder with Node before it "
				"on PATH that only you can write to.", node);
	}
	if (getenv(STARTED_VARIABLE))
		fail(line, EXIT_FAILED, "cannot run node: %s starts sallyport instead of Node; put a folder with Node before it "
					"on PATH.", node);
	argv[used++] = (char *)"node";
	argv[used++] = script;
	for (int i = 1; i < line->argc; i++)
		argv[used++] = line->argv[i];
	setenv(STARTED_VARIABLE, "1", 1);
	execv(node, argv);
	fail(line, 126, "cannot run node: %s: %s.", node, strerror(errno));
}

/* Returns NAME=VALUE of a variable of this process, or NULL if it is not set. */
static char *copy_of(const char *name)
{
	const char *value = getenv(name);
	char *text = NULL;
	return value && asprintf(&text, "%s=%s", name, value) > 0 ? text : NULL;
}

void node_serve(const char *state, const char *build)
{
	char folder[PATH_MAX], script[PATH_MAX], node[PATH_MAX], *state_variable = NULL;
	if (!find_folder(folder) || !find_script(folder, script) || node_path_find(folder, node) != NODE_FOUND ||
	    asprintf(&state_variable, "SALLYPORT_STATE=%s", state) < 0)
		return;
	char *argv[] = {(char *)"node", script, (char *)"--resident", (char *)build, NULL};
	/* Callers send their environment with each request. The process itself needs only what Node needs to start. */
	char *env[4] = {state_variable};
	unsigned used = 1;
	const char *const names[] = {"PATH", "SALLYPORT_RESIDENT_IDLE"};
	for (unsigned i = 0; i < 2; i++) {
		char *variable = copy_of(names[i]);
		if (variable)
			env[used++] = variable;
	}
	execve(node, argv, env);
}
