#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

/* The name stands in parentheses and may contain anything, parentheses and
 * newlines too, so what follows is counted from the last closing one. */
int fence_proc_stat_parse(char *text, struct fence_proc_stat *ret)
{
	struct fence_proc_stat stat = { 0 };
	char *open = strchr(text, '(');
	char *close = strrchr(text, ')');
	unsigned long long start = 0;
	unsigned long long use[4];
	int parent, group, session;

	if (open == NULL || close == NULL || close < open)
		return -EBADMSG;
	/* Fields 3 to 6, 14 to 17 and 22; those between are passed over. */
	if (sscanf(close + 1,
		   " %c %d %d %d %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu %*s %*s %*s %*s "
		   "%llu",
		   &stat.state, &parent, &group, &session, &use[0], &use[1], &use[2], &use[3],
		   &start) != 9)
		return -EBADMSG;
	*close = '\0';
	(void)snprintf(stat.name, sizeof(stat.name), "%s", open + 1);
	stat.pid = (pid_t)strtol(text, NULL, 10);
	stat.parent = parent;
	stat.group = group;
	stat.session = session;
	stat.start_ticks = start;
	for (int i = 0; i < 4; i++)
		stat.cpu_ticks += use[i];
	*ret = stat;
	return 0;
}

int fence_proc_stat(pid_t pid, struct fence_proc_stat *ret)
{
	char path[32];
	char text[1024];
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	length = fence_read_file(AT_FDCWD, path, text, sizeof(text));
	if (length < 0)
		return (int)length;
	return fence_proc_stat_parse(text, ret);
}

int fence_proc_probe(void)
{
	char text[16];
	ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);

	if (length < 0)
		return -errno;
	text[length] = '\0';
	return strtol(text, NULL, 10) == (long)getpid() ? 0 : -EXDEV;
}

/* Does this process hold it? `link` is its name, "pipe:[INODE]" or "/dev/pts/N". */
static bool holds(int proc_fd, const char *pid, const char *link)
{
	char path[32];
	char target[64];
	struct dirent *entry;
	bool found = false;
	int fd;
	DIR *fds;

	(void)snprintf(path, sizeof(path), "%.16s/fd", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds = fd < 0 ? NULL : fdopendir(fd);
	if (fds == NULL)
		return false;
	while (!found && (entry = readdir(fds)) != NULL) {
		ssize_t length = readlinkat(fd, entry->d_name, target, sizeof(target) - 1);

		if (length <= 0)
			continue;
		target[length] = '\0';
		found = strcmp(target, link) == 0;
	}
	(void)closedir(fds);
	return found;
}

unsigned int fence_pipe_holders(int pipe_fd, pid_t *ret_pids, unsigned int size)
{
	unsigned int count = 0;
	char link[64];
	unsigned int pty;
	struct stat st;
	struct dirent *entry;
	DIR *proc;

	if (fstat(pipe_fd, &st) < 0)
		return 0;
	if (fence_ioctl(pipe_fd, TIOCGPTN, &pty) == 0)
		(void)snprintf(link, sizeof(link), "/dev/pts/%u", pty);
	else
		(void)snprintf(link, sizeof(link), "pipe:[%llu]", (unsigned long long)st.st_ino);
	proc = opendir("/proc");
	while (proc != NULL && count < size && (entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && pid != getpid() && holds(dirfd(proc), entry->d_name, link))
			ret_pids[count++] = pid;
	}
	if (proc != NULL)
		(void)closedir(proc);
	return count;
}
