#include "process/title.h"

#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>

static char *area;
static size_t room;

void title_init(int argc, char **argv)
{
	area = argv[0];
	room = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) - argv[0]);
	prctl(PR_SET_NAME, "keeper");
}

void title_set(const char *text)
{
	static const char prefix[] = "keeper: ";
	if (room < sizeof prefix)
		return;
	memcpy(area, prefix, sizeof prefix - 1);
	size_t at = sizeof prefix - 1;
	for (; *text && at < room; text++, at++)
		area[at] = (unsigned char)*text < ' ' || *text == 127 ? '?' : *text;
	memset(area + at, '\0', room - at);
}
