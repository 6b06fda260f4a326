#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capabilities.h"
#include "grants.h"
#include "landlock.h"
#include "scope.h"
#include "seccomp.h"

static bool give_up(struct sandbox *sandbox, struct launch_failure *failure, const char *step, int error)
{
	sandbox_done(sandbox);
	*failure = (struct launch_failure){step, error};
	return false;
}

static int grant_temporary(int ruleset, int abi, const char *path)
{
	struct stat status;
	int fd = scope_open("/", path, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return -1;
	int granted = fstat(fd, &status) < 0 ? -1 : landlock_grant(ruleset, abi, fd, grants_writing(status.st_mode));
	int error = errno;
	close(fd);
	errno = error;
	return granted;
}

static int make_ruleset(const struct spec *spec, int abi)
{
	struct grants grants;
	if (grants_find(&grants, spec) < 0)
		return -1;
	int ruleset = landlock_open(spec, abi);
	int granted = ruleset < 0 ? -1 : 0;
	for (size_t i = 0; granted == 0 && i < grants.count; i++)
		granted = landlock_grant(ruleset, abi, grants.items[i].fd, grants.items[i].access);
	if (granted == 0 && spec->temporary)
		granted = grant_temporary(ruleset, abi, spec->temporary);
	int error = errno;
	grants_free(&grants);
	if (granted < 0 && ruleset >= 0)
		close(ruleset);
	errno = error;
	return granted < 0 ? -1 : ruleset;
}

static enum filter_sockets sockets_for(const struct spec *spec)
{
	if (spec->network == NETWORK_ON)
		return SOCKETS_ANY;
	if (spec->network == NETWORK_OFF)
		return SOCKETS_NONE;
	for (size_t i = 0; i < spec->port_count; i++)
		if (spec_port(spec, i) == 53) /* names could not be resolved otherwise */
			return SOCKETS_TCP_UDP;
	return SOCKETS_TCP;
}

bool sandbox_prepare(struct sandbox *sandbox, const struct spec *spec, struct launch_failure *failure)
{
	*sandbox = (struct sandbox){.ruleset = -1};
	if (!spec->given)
		return true;
	sandbox->spec = spec;
	sandbox->abi = landlock_abi();
	sandbox->gaps = landlock_gaps(spec, sandbox->abi);
	if (sandbox->abi > 0) {
		sandbox->ruleset = make_ruleset(spec, sandbox->abi);
		if (sandbox->ruleset < 0)
			return give_up(sandbox, failure, "sandbox-landlock", errno);
	}
	struct filter_choice choice = {sockets_for(spec), sandbox->abi > 0};
	sandbox->filter = seccomp_program(choice);
	if (!sandbox->filter)
		sandbox->gaps |= GAP_BIT(GAP_SECCOMP);
	if (choice.sockets == SOCKETS_TCP_UDP)
		sandbox->gaps |= GAP_BIT(GAP_UDP);
	if (spec->require && sandbox->gaps)
		return give_up(sandbox, failure, "sandbox-require", 0);
	return true;
}

const char *sandbox_put_on(const struct sandbox *sandbox)
{
	if (!sandbox->spec)
		return NULL;
	if (capabilities_drop(sandbox->abi >= 6) < 0)
		return "sandbox-capabilities";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return "sandbox-privileges";
	if (sandbox->ruleset >= 0 && landlock_restrict(sandbox->ruleset) < 0)
		return "sandbox-landlock";
	if (sandbox->filter && seccomp_restrict(sandbox->filter) < 0)
		return "sandbox-seccomp";
	return NULL;
}

void sandbox_done(struct sandbox *sandbox)
{
	if (sandbox->ruleset >= 0)
		close(sandbox->ruleset);
	sandbox->ruleset = -1;
}

void sandbox_forget(void)
{
}
