#include "guard/confine/leftover.h"

#include <string.h>
#include <unistd.h>

#include "fence/tree.h"

static int note(const struct fence_proc_stat *proc, void *arg)
{
	struct guard_leftover *left = arg;

	/* We are pid 1; a zombie runs no more. */
	if (proc->pid == getpid() || strchr("ZX", proc->state) != NULL)
		return 0;
	if (left->count < GUARD_LEFTOVER_NAMED) {
		left->first[left->count].pid = proc->pid;
		memcpy(left->first[left->count].name, proc->name, sizeof(proc->name));
	}
	left->count++;
	return 0;
}

void guard_leftover_look(struct guard_leftover *ret)
{
	*ret = (struct guard_leftover){ 0 };
	ret->known = fence_proc_probe() == 0 && fence_proc_each(note, ret) == 0;
}
