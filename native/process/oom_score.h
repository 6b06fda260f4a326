#ifndef SALLYPORT_OOM_SCORE_H
#define SALLYPORT_OOM_SCORE_H

#include <sys/types.h>

/* When memory runs out, the kernel kills the process with the highest score: its share of the memory in thousandths, plus
 * an adjustment. Losing a keeper loses the exit code of its command, so a command always has a higher adjustment than
 * its keeper (invariant 4). */

/* Lowers the adjustment of this process and its future children, which requires CAP_SYS_RESOURCE. To be called once, in
 * the zygote. */
void oom_score_protect(void);

/* Encloses the launch of a command, whose pid is not positive if it failed. As root, the keeper itself has the adjustment
 * of a command in between, which its child inherits: a privileged process also sets the value below which the command
 * cannot lower it again. An ordinary user's keeper cannot change its own adjustment, because its files in /proc belong
 * to root. It changes that of the command after the exec. */
void oom_score_begin_launch(void);
void oom_score_end_launch(pid_t pid);

#endif
