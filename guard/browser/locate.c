#include "guard/browser/locate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fence/own.h"
#include "fence/spawn.h"
#include "fence/sys.h"

enum kind {
	KIND_ELF,
	KIND_SCRIPT,
	KIND_SNAP,
	KIND_FLATPAK,
	KIND_OTHER,
	KIND_OURSELVES,
};

static const char *const usual_names[] = {
	"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome",
};

/* Where the ELF behind a wrapper is, by distribution. */
static const char *const usual_places[] = {
	"/usr/lib/chromium/chromium",			/* Debian, Alpine, Arch */
	"/usr/lib64/chromium-browser/chromium-browser", /* Fedora */
	"/usr/lib/chromium-browser/chromium-browser",
	"/usr/lib64/chromium/chromium", /* openSUSE */
	"/opt/google/chrome/chrome",	/* Google's packages */
};

static bool is_ourselves(int fd)
{
	struct stat us, it;

	return stat("/proc/self/exe", &us) == 0 && fstat(fd, &it) == 0 && us.st_dev == it.st_dev &&
	       us.st_ino == it.st_ino;
}

/* What a wrapper says of where the browser comes from. */
static enum kind script_kind(const char *text)
{
	if (strstr(text, "flatpak run") != NULL)
		return KIND_FLATPAK;
	if (strstr(text, "/snap/bin/") != NULL || strstr(text, "snap run") != NULL)
		return KIND_SNAP;
	return KIND_SCRIPT;
}

static int file_kind(const char *path, enum kind *ret)
{
	owned_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[16384];
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	got = fence_read_some(fd, text, sizeof(text) - 1);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	if (is_ourselves(fd))
		*ret = KIND_OURSELVES;
	else if (got >= 4 && memcmp(text, "\177ELF", 4) == 0)
		*ret = KIND_ELF;
	else if (got >= 2 && memcmp(text, "#!", 2) == 0)
		*ret = script_kind(text);
	else
		*ret = KIND_OTHER;
	return 0;
}

static bool is_elf(const char *path)
{
	enum kind kind = KIND_OTHER;

	return file_kind(path, &kind) == 0 && kind == KIND_ELF;
}

/* The ELF beside a script (Google's and upstream's layout). */
static bool find_beside(const char *script, char *ret_path, size_t size_bytes)
{
	static const char *const names[] = { "chrome", "chromium" };
	const char *slash = strrchr(script, '/');
	char path[PATH_MAX];

	if (slash == NULL)
		return false;
	for (size_t i = 0; i < 2; i++) {
		int length = snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - script), script,
				      names[i]);

		if (length < 0 || (size_t)length >= sizeof(path) || (size_t)length >= size_bytes)
			continue;
		if (!is_elf(path))
			continue;
		memcpy(ret_path, path, (size_t)length + 1);
		return true;
	}
	return false;
}

static bool copy(const char *from, char *ret_path, size_t size_bytes)
{
	size_t length = strlen(from);

	if (length >= size_bytes)
		return false;
	memcpy(ret_path, from, length + 1);
	return true;
}

/* `/usr/bin/NAME` is usually a wrapper for `/usr/lib/NAME/NAME`; a script under
 * any other name could stand for anything, so only the same name is believed. */
static bool find_behind(const char *script, char *ret_path, size_t size_bytes)
{
	const char *slash = strrchr(script, '/');
	const char *name = slash != NULL ? slash + 1 : script;

	for (size_t i = 0; i < sizeof(usual_places) / sizeof(usual_places[0]); i++) {
		const char *base = strrchr(usual_places[i], '/') + 1;

		if (strncmp(name, base, strlen(base)) == 0 || strstr(name, "chrome") == name) {
			if (is_elf(usual_places[i]))
				return copy(usual_places[i], ret_path, size_bytes);
		}
	}
	return false;
}

static int fail_kind(enum kind kind, const char *path, enum reason *ret_reason,
		     struct fence_err *err)
{
	static const struct {
		enum reason reason;
		const char *why;
	} failures[] = {
		[KIND_SCRIPT] = { REASON_EXECUTABLE_MISSING, "a script, and no browser beside it" },
		[KIND_SNAP] = { REASON_WRAPPER_SNAP, "a wrapper for a snap" },
		[KIND_FLATPAK] = { REASON_WRAPPER_FLATPAK, "a wrapper for a flatpak" },
		[KIND_OTHER] = { REASON_EXEC_FORMAT, "not an ELF file" },
		[KIND_OURSELVES] = { REASON_EXECUTABLE_MISSING, "this is fence-chromium itself" },
	};

	*ret_reason = failures[kind].reason;
	return fence_fail_why(err, kind == KIND_OTHER ? -ENOEXEC : -ENOENT, failures[kind].why,
			      "find the browser behind %s", path);
}

/* The ELF for one path that exists, whatever it is. */
static int resolve(const char *path, char *ret_path, size_t size_bytes, enum reason *ret_reason,
		   struct fence_err *err)
{
	owned_mem char *real = realpath(path, NULL);
	enum kind kind = KIND_OTHER;
	int rc = real == NULL ? -errno : file_kind(real, &kind);

	if (rc < 0) {
		*ret_reason = rc == -ENOENT ? REASON_EXECUTABLE_MISSING : REASON_EXECUTABLE_DENIED;
		return fence_fail(err, rc, "open the browser %s", path);
	}
	if (kind == KIND_ELF && copy(real, ret_path, size_bytes))
		return 0;
	if (kind == KIND_SCRIPT &&
	    (find_beside(real, ret_path, size_bytes) || find_behind(real, ret_path, size_bytes)))
		return 0;
	return fail_kind(kind, path, ret_reason, err);
}

static int locate_usual(const char *search, char *ret_path, size_t size_bytes,
			enum reason *ret_reason, struct fence_err *err)
{
	enum reason first_reason = REASON_OK;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(usual_names) / sizeof(usual_names[0]); i++) {
		if (fence_spawn_find(usual_names[i], search, NULL, path, sizeof(path)) < 0)
			continue;
		if (resolve(path, ret_path, size_bytes, ret_reason, err) == 0)
			return 0;
		if (first_reason == REASON_OK)
			first_reason = *ret_reason;
	}
	for (size_t i = 0; i < sizeof(usual_places) / sizeof(usual_places[0]); i++)
		if (is_elf(usual_places[i]) && copy(usual_places[i], ret_path, size_bytes))
			return 0;
	*ret_reason = first_reason == REASON_OK ? REASON_EXECUTABLE_MISSING : first_reason;
	return fence_fail_why(err, -ENOENT, "none is installed", "find a Chromium");
}

int locate_browser(const char *named, const char *search, char *ret_path, size_t size_bytes,
		   enum reason *ret_reason, struct fence_err *err)
{
	char path[PATH_MAX];
	int rc;

	if (named == NULL)
		return locate_usual(search, ret_path, size_bytes, ret_reason, err);
	rc = fence_spawn_find(named, search, NULL, path, sizeof(path));
	if (rc < 0) {
		*ret_reason = rc == -ENOENT ? REASON_EXECUTABLE_MISSING : REASON_EXECUTABLE_DENIED;
		return fence_fail(err, rc, "find the browser %s", named);
	}
	return resolve(path, ret_path, size_bytes, ret_reason, err);
}
