#include "guard/browser/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/own.h"
#include "fence/sys.h"

/* --- types --------------------------------------------------------------------- */

static const struct {
	const char *word;
	enum proc_type type;
} types[] = {
	{ "zygote", PROC_ZYGOTE },	    { "renderer", PROC_RENDERER },
	{ "gpu-process", PROC_GPU },	    { "utility", PROC_UTILITY },
	{ "crashpad-handler", PROC_OTHER },
};

const char *proc_type_word(enum proc_type type)
{
	static const char *const words[PROC_TYPES] = {
		[PROC_OTHER] = "other",	    [PROC_ZYGOTE] = "zygote",	  [PROC_GPU] = "gpu",
		[PROC_UTILITY] = "utility", [PROC_RENDERER] = "renderer",
	};

	return words[type];
}

static bool is_separator(char c)
{
	return c == '\0' || c == ' ';
}

/* Chromium puts --type first, so the first one that stands as a word is it. */
static const char *find_type(const char *bytes, size_t length, size_t *ret_length)
{
	static const char mark[] = "--type=";
	const size_t mark_length = sizeof(mark) - 1;

	for (size_t at = 1; at + mark_length <= length; at++) {
		const char *value = bytes + at + mark_length;
		size_t value_length = 0;

		if (!is_separator(bytes[at - 1]) || memcmp(bytes + at, mark, mark_length) != 0)
			continue;
		while (value + value_length < bytes + length && !is_separator(value[value_length]))
			value_length++;
		*ret_length = value_length;
		return value;
	}
	return NULL;
}

enum proc_type proc_parse_type(const char *bytes, size_t length)
{
	size_t value_length;
	const char *value = find_type(bytes, length, &value_length);

	if (value == NULL)
		return PROC_OTHER;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].word) == value_length &&
		    memcmp(types[i].word, value, value_length) == 0)
			return types[i].type;
	return PROC_RENDERER;
}

/* --- parsing ------------------------------------------------------------------- */

/* Field `wanted` counted from the one after the name, which is 0 (proc(5) calls it
 * 3): the name may hold anything, so the last parenthesis ends it. */
static const char *stat_field(const char *text, unsigned int wanted)
{
	const char *at = strrchr(text, ')');

	if (at == NULL || at[1] != ' ')
		return NULL;
	at += 2;
	while (wanted-- > 0) {
		at = strchr(at, ' ');
		if (at == NULL)
			return NULL;
		at++;
	}
	return at;
}

static bool read_u64(const char *at, int base, uint64_t *ret)
{
	char *end;

	if (at == NULL)
		return false;
	while (*at == ' ' || *at == '\t')
		at++;
	if (*at == '-')
		return false;
	errno = 0;
	*ret = strtoull(at, &end, base);
	return end != at && errno == 0;
}

int proc_parse_stat(const char *text, struct proc_stat *ret)
{
	const char *state = stat_field(text, 0);
	uint64_t ppid, user, system, start;

	if (state == NULL || !read_u64(stat_field(text, 1), 10, &ppid) || ppid > INT32_MAX ||
	    !read_u64(stat_field(text, 11), 10, &user) ||
	    !read_u64(stat_field(text, 12), 10, &system) ||
	    !read_u64(stat_field(text, 19), 10, &start))
		return -EBADMSG;
	*ret = (struct proc_stat){ .ppid = (pid_t)ppid,
				   .state = *state,
				   .cpu_ticks = user + system,
				   .start_ticks = start };
	return 0;
}

/* The text after "Name:" at the start of a line. */
static const char *status_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	while (text != NULL) {
		if (strncmp(text, name, length) == 0 && text[length] == ':')
			return text + length + 1;
		text = strchr(text, '\n');
		if (text != NULL)
			text++;
	}
	return NULL;
}

static int small_number(const char *text, const char *name)
{
	uint64_t value;

	if (!read_u64(status_value(text, name), 10, &value) || value > 1000000)
		return -1;
	return (int)value;
}

static unsigned int count_fields(const char *at)
{
	unsigned int count = 0;

	for (; *at != '\0' && *at != '\n'; at++)
		if (*at != '\t' && *at != ' ' && (at[-1] == '\t' || at[-1] == ' '))
			count++;
	return count;
}

int proc_parse_status(const char *text, struct proc_layers *ret)
{
	const char *pids = status_value(text, "NSpid");

	if (!read_u64(status_value(text, "CapEff"), 16, &ret->cap_eff))
		return -EBADMSG;
	ret->seccomp_mode = small_number(text, "Seccomp");
	ret->seccomp_filters = small_number(text, "Seccomp_filters"); /* since 5.9 */
	ret->pid_depth = pids != NULL ? count_fields(pids) : 0;
	return 0;
}

/* --- reading -------------------------------------------------------------------- */

int proc_open(int proc_fd, pid_t pid)
{
	char name[16];
	int fd;

	(void)snprintf(name, sizeof(name), "%d", pid);
	fd = openat(proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? (errno == ENOENT ? -ESRCH : -errno) : fd;
}

/* A file of a process that is gone is not found, or found and without a process. */
static int gone(int rc)
{
	return rc == -ENOENT ? -ESRCH : rc;
}

int proc_read_stat(int dir_fd, struct proc_stat *ret)
{
	char text[1024];
	ssize_t length = fence_read_file(dir_fd, "stat", text, sizeof(text));

	return length < 0 ? gone((int)length) : proc_parse_stat(text, ret);
}

int proc_read_type(int dir_fd, enum proc_type *ret)
{
	owned_fd fd = openat(dir_fd, "cmdline", O_RDONLY | O_CLOEXEC);
	char bytes[1024];
	ssize_t length;

	if (fd < 0)
		return gone(-errno);
	/* The type stands near the front; the rest may be of any length. */
	length = fence_read_some(fd, bytes, sizeof(bytes));
	if (length < 0)
		return gone((int)length);
	*ret = proc_parse_type(bytes, (size_t)length);
	return 0;
}

/* "pid:[4026531836]" of a link in ns/; 0 when we may not look. */
static int read_ns(int dir_fd, const char *name, uint64_t *ret)
{
	char text[64];
	ssize_t length = readlinkat(dir_fd, name, text, sizeof(text) - 1);
	const char *bracket;

	*ret = 0;
	if (length < 0)
		return errno == EACCES || errno == EPERM ? 0 : gone(-errno);
	text[length] = '\0';
	bracket = strchr(text, '[');
	if (bracket == NULL || !read_u64(bracket + 1, 10, ret))
		return -EBADMSG;
	return 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Chromium moves its children's root to the fdinfo folder of a helper that then
 * ends. Some kernels mark the link " (deleted)", some do not (6.18 does not), so
 * the name alone proves nothing: the folder must also answer that its process is
 * no more. */
static int read_root(int dir_fd, enum proc_root *ret)
{
	owned_fd fd = -1;
	char text[128];
	ssize_t length = readlinkat(dir_fd, "root", text, sizeof(text) - 1);

	*ret = PROC_ROOT_UNKNOWN;
	if (length < 0)
		return errno == EACCES || errno == EPERM ? 0 : gone(-errno);
	text[length] = '\0';
	*ret = PROC_ROOT_OTHER;
	if (!ends_with(text, "/fdinfo") && !ends_with(text, "/fdinfo (deleted)"))
		return 0;
	fd = openat(dir_fd, "root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ESRCH || errno == ENOENT))
		*ret = PROC_ROOT_EMPTY;
	return 0;
}

int proc_read_layers(int dir_fd, struct proc_layers *ret)
{
	struct proc_layers layers = { 0 };
	struct proc_stat after = { .state = 0 };
	char text[4096];
	ssize_t length = fence_read_file(dir_fd, "status", text, sizeof(text));
	int rc;

	if (length < 0)
		return gone((int)length);
	rc = proc_parse_status(text, &layers);
	if (rc == 0)
		rc = read_ns(dir_fd, "ns/pid", &layers.pid_ns);
	if (rc == 0)
		rc = read_ns(dir_fd, "ns/net", &layers.net_ns);
	if (rc == 0)
		rc = read_ns(dir_fd, "ns/user", &layers.user_ns);
	if (rc == 0)
		rc = read_root(dir_fd, &layers.root);
	/* A process that died in between has no root any more, which must not pass
	 * for an empty one: believe what was read only of one that still lives. */
	if (rc == 0)
		rc = proc_read_stat(dir_fd, &after);
	if (rc < 0)
		return rc;
	if (after.state == 'Z' || after.state == 'X')
		return -ESRCH;
	*ret = layers;
	return 0;
}

/* --- judging ---------------------------------------------------------------------- */

const char *layer_word(enum layer layer)
{
	switch (layer) {
	case LAYER_SECCOMP:
		return "seccompBpf";
	case LAYER_USER_NS:
		return "userNamespace";
	case LAYER_PID_NS:
		return "pidNamespace";
	case LAYER_NET_NS:
		return "netNamespace";
	case LAYER_ROOT:
		return "emptyRoot";
	case LAYER_CAPS:
		return "noCapabilities";
	case LAYER_ANCESTRY:
		return "ancestry";
	case LAYER_ALL:
		break;
	}
	return NULL;
}

struct verdict {
	unsigned int missing, unknown;
};

static void judge_ns(struct verdict *v, unsigned int layer, uint64_t browser, uint64_t renderer)
{
	if (browser == 0 || renderer == 0)
		v->unknown |= layer;
	else if (browser == renderer)
		v->missing |= layer;
}

/* A filter around the browser shows as mode 2 in the renderer as well, and Chromium
 * starts without its own where the kernel refuses it: only one filter more proves
 * it. Kernels before 5.9 do not tell the number; there a browser without any filter
 * and a renderer with one is proof enough. */
static void judge_seccomp(struct verdict *v, const struct proc_layers *browser,
			  const struct proc_layers *renderer)
{
	bool are_counted = browser->seccomp_filters >= 0 && renderer->seccomp_filters >= 0;

	if (renderer->seccomp_mode == 0 ||
	    (are_counted && renderer->seccomp_filters <= browser->seccomp_filters))
		v->missing |= LAYER_SECCOMP;
	else if (!are_counted && (browser->seccomp_mode != 0 || renderer->seccomp_mode != 2))
		v->unknown |= LAYER_SECCOMP;
}

void layers_judge(const struct proc_layers *browser, const struct proc_layers *renderer,
		  unsigned int *ret_missing, unsigned int *ret_unknown)
{
	struct verdict v = { 0, 0 };

	judge_seccomp(&v, browser, renderer);
	judge_ns(&v, LAYER_USER_NS, browser->user_ns, renderer->user_ns);
	judge_ns(&v, LAYER_NET_NS, browser->net_ns, renderer->net_ns);
	judge_ns(&v, LAYER_PID_NS, browser->pid_ns, renderer->pid_ns);
	if (browser->pid_depth == 0 || renderer->pid_depth == 0)
		v.unknown |= LAYER_PID_NS;
	else if (renderer->pid_depth <= browser->pid_depth)
		v.missing |= LAYER_PID_NS;
	if (renderer->root == PROC_ROOT_UNKNOWN)
		v.unknown |= LAYER_ROOT;
	else if (renderer->root != PROC_ROOT_EMPTY)
		v.missing |= LAYER_ROOT;
	if (renderer->cap_eff != 0)
		v.missing |= LAYER_CAPS;
	*ret_missing = v.missing;
	*ret_unknown = v.unknown & ~v.missing;
}

/* --- children --------------------------------------------------------------------- */

/* Adds the numbers of one `children` file. */
static int add_children(int task_fd, const char *tid, pid_t *ret, size_t room, size_t *count)
{
	char path[32], text[16384];
	const char *at = text;
	char *end;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "%.15s/children", tid);
	length = fence_read_file(task_fd, path, text, sizeof(text));
	if (length < 0)
		return (int)length;
	for (;;) {
		long pid = strtol(at, &end, 10);

		if (end == at)
			return 0;
		if (*count < room)
			ret[(*count)++] = (pid_t)pid;
		at = end;
	}
}

static DIR *open_list(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (list == NULL && fd >= 0)
		(void)close(fd);
	return list;
}

ssize_t proc_children(int proc_fd, pid_t pid, bool all_threads, pid_t *ret, size_t room)
{
	size_t count = 0;
	char path[32];
	DIR *tasks;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%d/task", pid);
	if (!all_threads) {
		owned_fd task_fd = openat(proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		char tid[16];

		if (task_fd < 0)
			return gone(-errno);
		(void)snprintf(tid, sizeof(tid), "%d", pid);
		rc = add_children(task_fd, tid, ret, room, &count);
		return rc < 0 ? rc : (ssize_t)count;
	}
	tasks = open_list(proc_fd, path);
	if (tasks == NULL)
		return gone(-errno);
	for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks)) {
		/* A thread that ended meanwhile has no children any more. */
		if (entry->d_name[0] != '.')
			rc = add_children(dirfd(tasks), entry->d_name, ret, room, &count);
		if (rc == -EFBIG)
			break;
	}
	(void)closedir(tasks);
	if (rc == -EFBIG)
		return rc;
	return count == 0 && rc == -ENOENT ? -ENOENT : (ssize_t)count;
}

/* Without /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN) the parents of all
 * processes tell the same, slower. */
static ssize_t descendants_by_parent(int proc_fd, pid_t pid, pid_t *ret, size_t room)
{
	DIR *list = open_list(proc_fd, ".");
	size_t count = 0, before;

	if (list == NULL)
		return -errno;
	/* A child may be listed before its parent: go over it until nothing is new. */
	do {
		before = count;
		rewinddir(list);
		for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
			pid_t it = (pid_t)strtol(e->d_name, NULL, 10);
			owned_fd fd = it > 0 ? proc_open(proc_fd, it) : -1;
			struct proc_stat stat;
			bool is_new = true, is_below = false;

			if (fd < 0 || proc_read_stat(fd, &stat) < 0)
				continue;
			is_below = stat.ppid == pid;
			for (size_t i = 0; i < count; i++) {
				is_below = is_below || ret[i] == stat.ppid;
				is_new = is_new && ret[i] != it;
			}
			if (is_new && is_below && count < room)
				ret[count++] = it;
		}
	} while (count != before);
	(void)closedir(list);
	return (ssize_t)count;
}

ssize_t proc_descendants(int proc_fd, pid_t pid, pid_t *ret, size_t room)
{
	ssize_t count = proc_children(proc_fd, pid, true, ret, room);

	if (count == -ENOENT)
		return descendants_by_parent(proc_fd, pid, ret, room);
	for (ssize_t at = 0; at < count; at++) {
		ssize_t more =
			proc_children(proc_fd, ret[at], true, ret + count, room - (size_t)count);

		if (more == -EFBIG)
			return more;
		if (more > 0)
			count += more;
	}
	return count;
}
