#include "guard/confine/leftover.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/tree.h"

static void note(struct guard_leftover *left, const struct fence_proc_stat *stat)
{
	if (left->count < GUARD_LEFTOVER_NAMED) {
		left->first[left->count].pid = stat->pid;
		memcpy(left->first[left->count].name, stat->name, sizeof(stat->name));
	}
	left->count++;
}

void guard_leftover_look(struct guard_leftover *ret)
{
	struct fence_proc_stat stat;
	struct dirent *entry;
	DIR *proc;

	*ret = (struct guard_leftover){ 0 };
	if (fence_proc_probe() < 0)
		return;
	proc = opendir("/proc");
	if (proc == NULL)
		return;
	ret->known = true;
	while ((entry = readdir(proc)) != NULL) {
		int64_t pid;

		if (fence_parse_number(entry->d_name, 2, INT32_MAX, &pid) < 0)
			continue; /* 1 is ourselves */
		if (fence_proc_stat((pid_t)pid, &stat) == 0 && strchr("ZX", stat.state) == NULL)
			note(ret, &stat);
	}
	(void)closedir(proc);
}
