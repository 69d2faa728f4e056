/* --info-fd and --json-status-fd, in bubblewrap's own words: whoever reads them was
 * written for those. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/text.h"
#include "guard/bwrap/bwrap.h"

static const struct {
	uint64_t flag;
	const char *name;
} namespaces_known[] = {
	{ CLONE_NEWCGROUP, "cgroup" }, { CLONE_NEWIPC, "ipc" }, { CLONE_NEWNS, "mnt" },
	{ CLONE_NEWNET, "net" },       { CLONE_NEWPID, "pid" }, { CLONE_NEWUTS, "uts" },
};

static int add_namespaces(struct fence_text *text, int dir_fd, uint64_t namespaces,
			  const char *between)
{
	for (size_t i = 0; i < sizeof(namespaces_known) / sizeof(namespaces_known[0]); i++) {
		char path[32];
		struct stat st;

		if ((namespaces & namespaces_known[i].flag) == 0)
			continue;
		(void)snprintf(path, sizeof(path), "ns/%s", namespaces_known[i].name);
		if (fstatat(dir_fd, path, &st, 0) < 0)
			return -errno;
		fence_text_add(text, ",%s\"%s-namespace\": %" PRIuMAX, between,
			       namespaces_known[i].name, (uintmax_t)st.st_ino);
	}
	return 0;
}

static int tell(int fd, pid_t pid, uint64_t namespaces, const char *begin, const char *between,
		const char *end)
{
	char buf[1024];
	char path[32];
	struct fence_text text;
	owned_fd dir = -1;
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add(&text, "%s\"child-pid\": %d", begin, (int)pid);
	rc = add_namespaces(&text, dir, namespaces, between);
	fence_text_add(&text, "%s", end);
	return rc < 0 ? rc : fence_write_full(fd, text.buf, text.length_bytes);
}

int bwrap_tell_start(const struct bwrap *bwrap, pid_t pid, uint64_t namespaces,
		     struct fence_err *err)
{
	int rc = 0;

	if (bwrap->info_fd >= 0) {
		rc = tell(bwrap->info_fd, pid, namespaces, "{\n    ", "\n    ", "\n}\n");
		if (rc < 0)
			return fence_fail(err, rc, "write to --info-fd %d", bwrap->info_fd);
	}
	if (bwrap->json_fd >= 0) {
		rc = tell(bwrap->json_fd, pid, namespaces, "{ ", " ", " }\n");
		if (rc < 0)
			return fence_fail(err, rc, "write to --json-status-fd %d", bwrap->json_fd);
	}
	return 0;
}

int bwrap_tell_end(int fd, int status, struct fence_err *err)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "{ \"exit-code\": %d }\n", status);
	int rc = fence_write_full(fd, line, (size_t)length);

	return rc < 0 ? fence_fail(err, rc, "write to --json-status-fd %d", fd) : 0;
}
