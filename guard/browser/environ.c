#include "guard/browser/environ.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rule {
	const char *name;
	bool is_prefix;
	bool is_dangerous;
};

static const struct rule rules[] = {
	/* How the sandbox finds its helper, and what its helper passes on. */
	{ "SBX_", true, true },
	{ "SANDBOX_", true, true },
	{ "CHROME_SANDBOX_DEBUGGING", false, true },
	{ "CHROME_DEVEL_SANDBOX", false, true },
	/* The dynamic loader's: LD_PRELOAD, LD_LIBRARY_PATH, LD_AUDIT. */
	{ "LD_", true, true },
	{ "SSLKEYLOGFILE", false, true },
	{ "FENCE_CHROMIUM_", true, false },
	{ "HOME", false, false },
	{ "TMPDIR", false, false },
	{ "XDG_CONFIG_HOME", false, false },
	{ "XDG_CACHE_HOME", false, false },
	{ "XDG_DATA_HOME", false, false },
	{ "XDG_STATE_HOME", false, false },
	{ "XDG_RUNTIME_DIR", false, false },
	{ "BREAKPAD_DUMP_LOCATION", false, false },
};

static const struct {
	const char *name;
	const char *folder;
} places[] = {
	{ "HOME", "home" },
	{ "TMPDIR", "tmp" },
	{ "XDG_CONFIG_HOME", "home/.config" },
	{ "XDG_CACHE_HOME", "home/.cache" },
	{ "XDG_DATA_HOME", "home/.local/share" },
	{ "XDG_STATE_HOME", "home/.local/state" },
	{ "XDG_RUNTIME_DIR", "run" },
	/* Crash dumps hold the browser's memory: they go with the root. */
	{ "BREAKPAD_DUMP_LOCATION", "crash" },
};
#define PLACE_COUNT (sizeof(places) / sizeof(places[0]))

bool environ_is_dropped(const char *variable, bool *ret_is_dangerous)
{
	size_t length = strcspn(variable, "=");

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		size_t wanted = strlen(rules[i].name);

		if (length < wanted || memcmp(variable, rules[i].name, wanted) != 0)
			continue;
		if (length > wanted && !rules[i].is_prefix)
			continue;
		*ret_is_dangerous = rules[i].is_dangerous;
		return true;
	}
	return false;
}

int environ_build(char *const *from, const char *root, char ***ret, unsigned int *ret_dropped)
{
	size_t count = 0, room = PLACE_COUNT + 1, place_bytes = strlen(root) + 64, text_bytes;
	char **list, *text;
	bool is_dangerous;

	while (from[count] != NULL)
		count++;
	room += count;
	/* The pointers, and after them the strings that are ours. */
	text_bytes = place_bytes * PLACE_COUNT;
	list = malloc(room * sizeof(*list) + text_bytes);
	if (list == NULL)
		return -ENOMEM;
	*ret = list;
	*ret_dropped = 0;
	text = (char *)(list + room);
	for (; *from != NULL; from++) {
		if (!environ_is_dropped(*from, &is_dangerous))
			*list++ = *from;
		else if (is_dangerous)
			(*ret_dropped)++;
	}
	for (size_t i = 0; i < PLACE_COUNT; i++) {
		(void)snprintf(text, place_bytes, "%s=%s/%s", places[i].name, root,
			       places[i].folder);
		*list++ = text;
		text += place_bytes;
	}
	*list = NULL;
	return 0;
}
