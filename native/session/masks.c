#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "log.h"
#include "sandbox/namespaces.h"
#include "session/session.h"

static struct mask_monitor *monitor_of(const struct session *session)
{
	return session->sandbox.cached && session->record.reason != END_FAILED ? &session->sandbox.cached->monitor
									       : NULL;
}

/* Masks the paths again in the namespaces of the command. An isolated command has its own copy of the mount namespace,
 * which an unprivileged keeper can open only through the command. */
static void restore(const struct session *session, const struct mask_monitor *monitor)
{
	char path[64];
	int own = -1;
	if (session->pid_ns && session->main_alive) {
		snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)session->record.pid);
		own = open(path, O_RDONLY | O_CLOEXEC);
	}
	mask_monitor_restore(monitor, session->sandbox.spec, &session->sandbox.cached->namespaces, own);
	if (own >= 0)
		close(own);
}

void session_check_masks(struct session *session)
{
	struct mask_monitor *monitor = monitor_of(session);
	const struct sandbox_spec *spec = session->sandbox.spec;
	unsigned before = session->record.broken_masks.count;
	if (!monitor || !mask_monitor_check(monitor, spec, &session->record.broken_masks))
		return;
	bool running = session->main_alive || session->has_children;
	if (running && spec->mask_warn)
		restore(session, monitor);
	if (session->record.broken_masks.count == before)
		return;
	log_warn("masks", "session %s: the mask of a denied or protected path broke: %s", session->id,
		 spec->mask_warn ? "the command continues" : "killing the command");
	if (!running || spec->mask_warn)
		return;
	/* The command could use the path in the time that a graceful end takes (invariant 7). */
	session->record.killed_for_mask = true;
	session_kill_now(session, END_MASK);
}

void session_find_created_paths(struct session *session)
{
	struct mask_monitor *monitor = monitor_of(session);
	session->record.created.count = 0;
	session->record.created.length = 0;
	if (monitor)
		mask_monitor_find_created(monitor, &session->record.created);
}
