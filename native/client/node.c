#include "client/node.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


/* Finds the script next to this program, or in the checkout in which it was built. */
static bool find_script(char script[PATH_MAX])
{
	static const char *const places[] = {"sallyport.js", "../../bin/sallyport.js"};
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	char *end = strrchr(self, '/');
	if (!end)
		return false;
	end[1] = '\0';
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		int length = snprintf(script, PATH_MAX, "%s%s", self, places[i]);
		if (length > 0 && length < PATH_MAX && access(script, R_OK) == 0)
			return true;
	}
	return false;
}

void node_run(const struct command_line *line)
{
	char script[PATH_MAX];
	char **argv = calloc((size_t)line->argc + 2, sizeof *argv);
	int used = 0;
	if (!find_script(script)) {
		fprintf(stderr, "sallyport: bin/sallyport.js is missing. Install the package again.\n");
		_exit(line->failure_code);
	}
	if (!argv) {
		fprintf(stderr, "sallyport: out of memory\n");
		_exit(line->failure_code);
	}
	argv[used++] = (char *)"node";
	argv[used++] = script;
	for (int i = 1; i < line->argc; i++)
		argv[used++] = line->argv[i];
	execvp("node", argv);
	fprintf(stderr, "sallyport: cannot run node: %s. Install Node, or add its folder to PATH.\n", strerror(errno));
	_exit(line->failure_code != EXIT_FAILED ? line->failure_code : errno == ENOENT ? 127 : 126);
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
	char script[PATH_MAX], *state_variable = NULL;
	if (!find_script(script) || asprintf(&state_variable, "SALLYPORT_STATE=%s", state) < 0)
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
	execvpe("node", argv, env);
}
