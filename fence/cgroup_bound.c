#include "fence/cgroup_bound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fence/cgroup.h"
#include "fence/clock.h"
#include "fence/own.h"
#include "fence/sys.h"

/* Not fence-run's names: those groups are removed by whoever repairs an attempt. */
#define PREFIX	     FENCE_CGROUP_PREFIX "bound."
#define TEXT_BYTES   4096
#define PERIOD_US    100000U
#define PERIOD_MAX   1000000U /* the kernel's longest; its shortest share is 1 ms */
#define LOCK_TRIES   8
#define LOCK_MS	     2000
#define LOCK_LOOK_MS 5
#define LEAVE_MS     1000

static const struct {
	const char *name;
	const char *file; /* its bound */
	char wanted;	  /* in a group's name: it is bounded by it */
	char ours;	  /* and our parent does not have it on but for us */
} controllers[] = {
	[FENCE_CGROUP_MEMORY] = { "memory", "memory.max", 'm', 'M' },
	[FENCE_CGROUP_PIDS] = { "pids", "pids.max", 'p', 'P' },
	[FENCE_CGROUP_CPU] = { "cpu", "cpu.max", 'c', 'C' },
};

const char *fence_cgroup_controller_name(enum fence_cgroup_controller controller)
{
	return controllers[controller].name;
}

bool fence_cgroup_lists(const char *list, enum fence_cgroup_controller controller)
{
	const char *name = controllers[controller].name;
	size_t length = strlen(name);

	while (*list != '\0') {
		size_t word = strcspn(list, " \n");

		if (word == length && memcmp(list, name, length) == 0)
			return true;
		list += word + (list[word] != '\0');
	}
	return false;
}

void fence_cgroup_bound_text(enum fence_cgroup_controller controller, uint64_t most, char *ret,
			     size_t size_bytes)
{
	unsigned int period_us = most < 10 ? PERIOD_MAX : PERIOD_US;

	if (controller == FENCE_CGROUP_CPU)
		(void)snprintf(ret, size_bytes, "%llu %u",
			       (unsigned long long)most * (period_us / 1000), period_us);
	else
		(void)snprintf(ret, size_bytes, "%llu", (unsigned long long)most);
}

static int write_word(int dir_fd, const char *file, const char *text)
{
	owned_fd fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (fd < 0)
		return -errno;
	put = fence_write_some(fd, text, strlen(text));
	return put < 0 ? (int)put : 0;
}

static int write_at(const char *folder, const char *file, const char *text)
{
	owned_fd dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir_fd < 0 ? -errno : write_word(dir_fd, file, text);
}

static int read_at(const char *folder, const char *file, char *ret, size_t size_bytes)
{
	owned_fd dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ssize_t got;

	ret[0] = '\0';
	if (dir_fd < 0)
		return -errno;
	got = fence_read_file(dir_fd, file, ret, size_bytes);
	return got < 0 ? (int)got : 0;
}

/* --- our neighbours ----------------------------------------------------------------------- */

/* Other groups of ours in the same parent. Its controllers are for all of them together:
 * who switches one off takes the bound of whoever still has one by it, and the kernel
 * does not mind. So a group's name says which it needs, and which are on for our sake
 * alone; the last who needs one of these switches it off. */
struct neighbours {
	bool wanted[FENCE_CGROUP_CONTROLLERS]; /* by one that lives */
	bool ours[FENCE_CGROUP_CONTROLLERS];   /* the same, and on for our sake */
	bool left[FENCE_CGROUP_CONTROLLERS];   /* on for the sake of one that was killed */
};

static void note(struct neighbours *neighbours, const char *name, bool lives)
{
	const char *letters = strrchr(name, '-');

	for (int i = 0; letters != NULL && i < FENCE_CGROUP_CONTROLLERS; i++) {
		bool ours = strchr(letters, controllers[i].ours) != NULL;
		bool wanted = ours || strchr(letters, controllers[i].wanted) != NULL;

		neighbours->wanted[i] |= lives && wanted;
		neighbours->ours[i] |= lives && ours;
		neighbours->left[i] |= !lives && ours;
	}
}

/* One that nobody holds was left behind: its maker was killed. It is removed, unless
 * something lives in it. */
static bool lives(int parent_fd, const char *name)
{
	owned_fd fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno != ENOENT;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return true;
	return unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT;
}

static void look_around(const char *parent, struct neighbours *ret)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	*ret = (struct neighbours){ 0 };
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			note(ret, entry->d_name, lives(dirfd(dir), entry->d_name));
	if (dir != NULL)
		(void)closedir(dir);
}

/* Who makes or ends a group does it alone. Anybody who can read the folder could hold this
 * lock: nobody waits for it for long. */
static int lock_parent(const char *parent, int *ret_fd)
{
	int64_t stop_at_ms = fence_now_ms() + LOCK_MS;
	owned_fd fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || fence_now_ms() >= stop_at_ms)
			return -errno;
		(void)poll(NULL, 0, LOCK_LOOK_MS);
	}
	*ret_fd = fence_take_fd(&fd);
	return 0;
}

/* --- groups that are held ----------------------------------------------------------------- */

static bool is_still(const char *path, int fd)
{
	struct stat there, ours;

	return stat(path, &there) == 0 && fstat(fd, &ours) == 0 && there.st_ino == ours.st_ino &&
	       there.st_dev == ours.st_dev;
}

/* mkdir(2) and flock(2): a sweeper between the two takes it away, and it is made again. */
static int make_held(const char *path, int *ret_fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		owned_fd fd = -1;

		if (mkdir(path, 0700) < 0)
			return -errno;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && is_still(path, fd)) {
			*ret_fd = fence_take_fd(&fd);
			return 0;
		}
		(void)rmdir(path);
	}
	return -EAGAIN;
}

static int name_group(char *ret, const char *parent, const char *what)
{
	int length = snprintf(ret, PATH_MAX, "%s/" PREFIX "%d.%llx.%s", parent, (int)getpid(),
			      (unsigned long long)fence_now_us(), what);

	return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* --- controllers -------------------------------------------------------------------------- */

/* "+memory +pids", or with '-'. */
static void list_words(const bool set[FENCE_CGROUP_CONTROLLERS], char sign, char *ret,
		       size_t size_bytes)
{
	size_t length = 0;

	ret[0] = '\0';
	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS && length < size_bytes; i++)
		if (set[i])
			length +=
				(size_t)snprintf(ret + length, size_bytes - length, "%s%c%s",
						 length > 0 ? " " : "", sign, controllers[i].name);
}

static void write_control(const struct fence_cgroup_bound *bound, char sign, int *ret_rc)
{
	char words[64];

	list_words(bound->enabled, sign, words, sizeof(words));
	*ret_rc = words[0] == '\0' ? 0 : write_at(bound->parent, "cgroup.subtree_control", words);
}

/* Some controllers take a group with processes for one of threads: no process can go
 * below it then. */
static bool is_for_threads(const struct fence_cgroup_bound *bound)
{
	char type[32];

	return fence_read_file(bound->dir_fd, "cgroup.type", type, sizeof(type)) > 0 &&
	       strncmp(type, "domain invalid", strlen("domain invalid")) == 0;
}

/* -EBUSY: there are processes in our parent. */
static int switch_on(struct fence_cgroup_bound *bound)
{
	int rc, ignored;

	write_control(bound, '+', &rc);
	if (rc == 0 && is_for_threads(bound)) {
		write_control(bound, '-', &ignored);
		rc = -EBUSY;
	}
	return rc;
}

/* Those that are on for our sake, and that nobody else needs. */
static void switch_off(struct fence_cgroup_bound *bound)
{
	struct neighbours neighbours;
	int ignored;

	look_around(bound->parent, &neighbours);
	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS; i++)
		bound->enabled[i] =
			(bound->enabled[i] || neighbours.left[i]) && !neighbours.wanted[i];
	write_control(bound, '-', &ignored);
	memset(bound->enabled, 0, sizeof(bound->enabled));
}

static void leave_leaf(struct fence_cgroup_bound *bound)
{
	if (bound->leaf[0] == '\0')
		return;
	(void)write_at(bound->parent, "cgroup.procs", "0");
	(void)rmdir(bound->leaf);
	fence_close_fd(&bound->leaf_fd);
	bound->leaf[0] = '\0';
}

/* The one process that may be in the way is this one. */
static int step_aside(struct fence_cgroup_bound *bound)
{
	int rc = name_group(bound->leaf, bound->parent, "self");

	if (rc == 0)
		rc = make_held(bound->leaf, &bound->leaf_fd);
	if (rc < 0) {
		bound->leaf[0] = '\0';
		return rc;
	}
	rc = write_word(bound->leaf_fd, "cgroup.procs", "0");
	if (rc == 0)
		rc = switch_on(bound);
	if (rc < 0)
		leave_leaf(bound);
	return rc;
}

static int refuse_enable(struct fence_cgroup_bound *bound, int rc, struct fence_err *err)
{
	if (rc == -EBUSY)
		(void)fence_fail_why(err, rc, "other processes are in it, too",
				     "give controllers to groups in cgroup %s", bound->parent);
	else
		(void)fence_fail(err, rc, "give controllers to groups in cgroup %s", bound->parent);
	(void)fence_hint(err, "start it alone in a group that is its own: systemd-run --user "
			      "--scope -p Delegate=yes COMMAND");
	memset(bound->enabled, 0, sizeof(bound->enabled));
	return rc;
}

static int enable(struct fence_cgroup_bound *bound, struct fence_err *err)
{
	int rc = switch_on(bound);

	if (rc == -EBUSY)
		rc = step_aside(bound);
	return rc < 0 ? refuse_enable(bound, rc, err) : 0;
}

/* What must be switched on, or is on for our sake already. */
static int decide(struct fence_cgroup_bound *bound, const struct fence_cgroup_bounds *bounds,
		  struct fence_err *err)
{
	struct neighbours neighbours;
	char on[TEXT_BYTES];
	int rc;

	/* Of those who were killed, first: what they left on can keep us from going in. */
	switch_off(bound);
	look_around(bound->parent, &neighbours);
	rc = read_at(bound->parent, "cgroup.subtree_control", on, sizeof(on));
	if (rc < 0)
		return fence_fail(err, rc, "read the controllers of cgroup %s", bound->parent);
	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS; i++)
		bound->enabled[i] = bounds->most[i] != UINT64_MAX &&
				    (neighbours.ours[i] ||
				     !fence_cgroup_lists(on, (enum fence_cgroup_controller)i));
	return 0;
}

static int check_there(const struct fence_cgroup_bound *bound,
		       const struct fence_cgroup_bounds *bounds, struct fence_err *err)
{
	char there[TEXT_BYTES];
	int rc = read_at(bound->parent, "cgroup.controllers", there, sizeof(there));

	if (rc < 0)
		return fence_fail(err, rc, "read the controllers of cgroup %s", bound->parent);
	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS; i++) {
		if (bounds->most[i] == UINT64_MAX ||
		    fence_cgroup_lists(there, (enum fence_cgroup_controller)i))
			continue;
		(void)fence_fail_why(err, -EOPNOTSUPP, "it is not there in version 2",
				     "use the %s controller in cgroup %s", controllers[i].name,
				     bound->parent);
		(void)fence_hint(err,
				 "boot with systemd.unified_cgroup_hierarchy=1, and have a "
				 "cgroup delegated: systemd-run --user --scope -p Delegate=yes "
				 "COMMAND");
		return -EOPNOTSUPP;
	}
	return 0;
}

/* --- the group ---------------------------------------------------------------------------- */

static int write_bounds(struct fence_cgroup_bound *bound, const struct fence_cgroup_bounds *bounds,
			struct fence_err *err)
{
	int rc;

	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS; i++) {
		char text[64];

		if (bounds->most[i] == UINT64_MAX)
			continue;
		fence_cgroup_bound_text((enum fence_cgroup_controller)i, bounds->most[i], text,
					sizeof(text));
		rc = write_word(bound->dir_fd, controllers[i].file, text);
		if (rc < 0)
			return fence_fail(err, rc, "write %s to %s/%s", text, bound->path,
					  controllers[i].file);
	}
	if (bounds->most[FENCE_CGROUP_MEMORY] == UINT64_MAX)
		return 0;
	/* What is moved out to a disk is used up as well. Not there: no swap in this kernel. */
	rc = write_word(bound->dir_fd, "memory.swap.max", "0");
	return rc == 0 || rc == -ENOENT
		       ? 0
		       : fence_fail(err, rc, "write 0 to %s/memory.swap.max", bound->path);
}

static int make_group(struct fence_cgroup_bound *bound, const struct fence_cgroup_bounds *bounds,
		      struct fence_err *err)
{
	char what[16] = "command-";
	size_t length = strlen(what);
	char path[PATH_MAX];
	int rc;

	for (int i = 0; i < FENCE_CGROUP_CONTROLLERS; i++)
		if (bounds->most[i] != UINT64_MAX)
			what[length++] =
				bound->enabled[i] ? controllers[i].ours : controllers[i].wanted;
	rc = name_group(path, bound->parent, what);
	if (rc == 0)
		rc = make_held(path, &bound->dir_fd);
	if (rc == 0)
		memcpy(bound->path, path, sizeof(path));
	if (rc == 0)
		bound->procs_fd = openat(bound->dir_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (rc == 0 && bound->procs_fd < 0)
		rc = -errno;
	if (rc == 0)
		return 0;
	(void)fence_fail(err, rc, "make a cgroup in %s", bound->parent);
	if (rc == -EACCES || rc == -EPERM)
		(void)fence_hint(err, "have it delegated to our user: systemd-run --user --scope "
				      "-p Delegate=yes COMMAND");
	else if (rc == -EROFS)
		(void)fence_hint(err, "mount cgroup2 writable");
	return rc;
}

static int make_alone(struct fence_cgroup_bound *bound, const struct fence_cgroup_bounds *bounds,
		      struct fence_err *err)
{
	int rc = decide(bound, bounds, err);

	if (rc == 0)
		rc = make_group(bound, bounds, err);
	if (rc == 0)
		rc = enable(bound, err);
	return rc < 0 ? rc : write_bounds(bound, bounds, err);
}

/* Who was reaped has left the group, but kernels differ in whether that is so at once. */
static void remove_group(const char *path)
{
	int64_t stop_at_ms = fence_now_ms() + LEAVE_MS;

	while (fence_cgroup_remove(path) == -EBUSY && fence_now_ms() < stop_at_ms)
		(void)poll(NULL, 0, LOCK_LOOK_MS);
}

static void end_alone(struct fence_cgroup_bound *bound)
{
	fence_close_fd(&bound->procs_fd);
	if (bound->path[0] != '\0')
		remove_group(bound->path);
	bound->path[0] = '\0';
	fence_close_fd(&bound->dir_fd);
	switch_off(bound);
	leave_leaf(bound);
}

int fence_cgroup_bound_make(const struct fence_cgroup_bounds *bounds,
			    struct fence_cgroup_bound *ret, struct fence_err *err)
{
	owned_fd lock_fd = -1;
	int rc;

	*ret = FENCE_CGROUP_BOUND_NONE;
	rc = fence_cgroup_here(ret->parent, sizeof(ret->parent), err);
	if (rc < 0) {
		(void)fence_hint(err, "mount cgroup2, with the controllers in it");
		return rc;
	}
	rc = check_there(ret, bounds, err);
	if (rc < 0)
		return rc;
	rc = lock_parent(ret->parent, &lock_fd);
	if (rc < 0)
		return fence_fail(err, rc, "lock cgroup %s", ret->parent);
	rc = make_alone(ret, bounds, err);
	if (rc < 0)
		end_alone(ret);
	return rc;
}

void fence_cgroup_bound_end(struct fence_cgroup_bound *bound)
{
	owned_fd lock_fd = -1;

	/* Somebody in our way costs a group that stays until the next one comes, no bound. */
	if (bound->parent[0] != '\0' && lock_parent(bound->parent, &lock_fd) == 0)
		end_alone(bound);
}

void fence_cgroup_bound_use(const struct fence_cgroup_bound *bound, struct fence_cgroup_use *ret)
{
	char text[512];
	const char *at;

	*ret = (struct fence_cgroup_use){ 0 };
	if (bound->dir_fd < 0)
		return;
	ret->memory_known = fence_cgroup_memory_kills(bound->dir_fd, &ret->memory_kills) == 0;
	if (fence_cgroup_memory_peak(bound->dir_fd, &ret->memory_peak_bytes) < 0)
		ret->memory_peak_bytes = 0;
	if (fence_read_file(bound->dir_fd, "pids.events", text, sizeof(text)) < 0)
		return;
	/* "max 3" is all that there is, or the first line of it. */
	at = strstr(text, "max ");
	ret->pids_known = at != NULL;
	ret->pids_refused = at == NULL ? 0 : strtoull(at + 4, NULL, 10);
}
