#ifndef SALLYPORT_LOG_H
#define SALLYPORT_LOG_H

#include <stdbool.h>

/* The log of the zygote and its keepers, for the operator. It is STATE/keeper.log with mode 0600 and at most LOG_MAX
 * bytes. When it is full it is renamed to keeper.log.1. Logging is best effort: a line that cannot be written is
 * dropped, and no command waits for it or fails because of it. A line never contains data that may be secret: no
 * arguments, environment, title, path or output of a command. Commands are identified by their session ID. Only the
 * zygote and keepers log, after they have called log_adopt. A child between fork and exec does not. */
#define LOG_MAX (1u << 20)

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Returns the level named TEXT. Unknown names and NULL mean `warn`. */
enum log_level log_level_of(const char *text);

/* Opens the log in the directory STATE_FD, which must stay open until the process exits. */
void log_open(int state_fd, enum log_level level);

/* Enables logging in a forked process. */
void log_adopt(void);

/* Writes one line. COMPONENT is the name of the source file that logs. Preserves errno. */
__attribute__((format(printf, 3, 4))) void log_line(enum log_level level, const char *component, const char *format,
						    ...);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Conditions of the machine that affect every command. Each is logged once for all keepers of a zygote. */
enum log_condition {
	LOG_UNENFORCED_MEMORY,
	LOG_UNENFORCED_PROCESSES,
	LOG_UNENFORCED_CPU,
	LOG_UNSUPPORTED, /* the first of a range with one condition per sandbox feature; fewer than 32 in total */
};

/* Reports whether CONDITION occurs for the first time. */
bool log_first(unsigned condition);

#endif
