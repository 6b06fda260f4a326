#include "log.h"
#include "session/session.h"

static struct mask_monitor *monitor_of(const struct session *session)
{
	return session->sandbox.cached && session->record.reason != END_FAILED ? &session->sandbox.cached->monitor
									       : NULL;
}

void session_check_masks(struct session *session)
{
	struct mask_monitor *monitor = monitor_of(session);
	const struct sandbox_spec *spec = session->sandbox.spec;
	if (!monitor || !mask_monitor_check(monitor, spec, &session->record.broken_masks))
		return;
	log_warn("masks", "session %s: the mask of a denied or protected path broke: %s", session->id,
		 spec->mask_warn ? "the command continues" : "killing the command");
	if (spec->mask_warn)
		return;
	/* The command could use the path in the time that a graceful end takes (invariant 7). */
	session->record.killed_for_mask = session->main_alive || session->has_children;
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
