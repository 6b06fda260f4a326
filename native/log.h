#ifndef SALLYPORT_LOG_H
#define SALLYPORT_LOG_H

#include <stdbool.h>

/* The log of the zygote and its keepers, for the operator: STATE/keeper.log, mode 0600, at most LOG_MAX bytes; the file
 * before it is keeper.log.1. Best effort: a line that cannot be written is lost, and no command waits for it or fails.
 *
 * A line never holds anything that may be secret: no arguments, environment, title, path or output of a command. It names
 * a command by its session id.
 *
 * Processes between fork and exec do not log: only the zygote and keepers, which call log_adopt. */
#define LOG_MAX (1u << 20)

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* The level called TEXT. Any other text, and NULL, mean `warn`. */
enum log_level log_level_of(const char *text);

/* Opens the log in the folder STATE_FD, which stays open as long as the process lives. */
void log_open(int state_fd, enum log_level level);

/* To be called in a process that was forked and is to log. */
void log_adopt(void);

/* COMPONENT: the part of the keeper that logs, named as its file. Keeps errno. */
__attribute__((format(printf, 3, 4))) void log_line(enum log_level level, const char *component, const char *format,
						    ...);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

/* Conditions of the machine that concern every command are logged once for all keepers of a zygote. */
enum log_condition {
	LOG_UNENFORCED_MEMORY,
	LOG_UNENFORCED_PROCESSES,
	LOG_UNENFORCED_CPU,
	LOG_UNSUPPORTED, /* the first of one for each feature of the sandbox; less than 32 in all */
};

/* Whether this is the first time that CONDITION is met. */
bool log_first(unsigned condition);

#endif
