#include <stdio.h>
#include <string.h>

#include "cgroup/cgroup.h"
#include "io/output_reader.h"
#include "process/keeper.h"
#include "process/title.h"
#include "sandbox/sandbox.h"

int main(int argc, char **argv)
{
	title_init(argc, argv);
	if (argc >= 3 && strcmp(argv[1], "serve") == 0)
		return zygote_serve(argv[2], argc >= 5 ? argv[4] : "/proc/self", argc >= 6 ? argv[5] : NULL);
	if (argc == 2 && strcmp(argv[1], "probe") == 0)
		return sandbox_probe();
	if (argc >= 2 && argc <= 3 && strcmp(argv[1], "limits") == 0)
		return cgroup_probe(argc == 3 ? argv[2] : "/proc/self");
	if (argc == 3 && strcmp(argv[1], "check") == 0)
		return folder_check(argv[2]);
	if (argc == 2 && strcmp(argv[1], "wait-reader") == 0)
		return output_reader_wait();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("keeper %s protocol 1\n", KEEPER_BUILD);
		return 0;
	}
	fprintf(stderr,
		"usage: keeper serve STATE [TITLE-SPACE [SELF [LOG-LEVEL]]]\n       keeper probe\n       keeper "
		"limits [SELF]\n       keeper check FOLDER\n       keeper wait-reader\n       keeper --version\n");
	return 2;
}
