/* The words of a policy, and its limits. */
#include <errno.h>
#include <string.h>

#include "fence/clock.h"
#include "guard/policy/policy.h"

const char *guard_net_word(enum guard_net net)
{
	static const char *const words[] = {
		[GUARD_NET_NONE] = "none",
		[GUARD_NET_HOST] = "host",
		[GUARD_NET_RULES] = "rules",
		[GUARD_NET_PORTS] = "ports",
	};

	return words[net];
}

const char *guard_seccomp_word(enum guard_seccomp seccomp)
{
	return seccomp == GUARD_SECCOMP_STRICT ? "strict" : "default";
}

static const char *const verdict_words[] = {
	[GUARD_VERDICT_ALLOW] = "allow",
	[GUARD_VERDICT_OPAQUE] = "opaque",
	[GUARD_VERDICT_ASK] = "ask",
	[GUARD_VERDICT_DENY] = "deny",
};

const char *guard_verdict_word(enum guard_verdict verdict)
{
	return verdict_words[verdict];
}

int guard_verdict_find(const char *word)
{
	for (size_t i = 0; i < sizeof(verdict_words) / sizeof(verdict_words[0]); i++)
		if (strcmp(verdict_words[i], word) == 0)
			return (int)i;
	return -1;
}

const char *guard_session_word(enum guard_session session)
{
	static const char *const words[] = {
		[GUARD_SANDBOXED] = "sandboxed",
		[GUARD_UNSANDBOXED] = "unsandboxed",
		[GUARD_HEADLESS] = "headless",
	};

	return words[session];
}

/* --- limits ----------------------------------------------------------------------- */

static const char *parse_size(const char *text, uint64_t *ret)
{
	return fence_parse_size(text, ret) < 0 ? "it is a size, as 4GiB or 512MiB" : NULL;
}

static const char *parse_memory(const char *text, uint64_t *ret)
{
	uint64_t bytes;

	if (fence_parse_size(text, &bytes) < 0 || bytes == 0)
		return "it is a size, as 4GiB or 512MiB";
	*ret = bytes;
	return NULL;
}

static const char *parse_count(const char *text, uint64_t *ret)
{
	int64_t number;

	if (fence_parse_number(text, 1, INT32_MAX, &number) < 0)
		return "it is a number from 1 on";
	*ret = (uint64_t)number;
	return NULL;
}

/* "2", "0.5", "1.25": at most three digits after the point; or "150%". */
static const char *parse_processors(const char *text, uint64_t *ret)
{
	static const char wrong[] = "it is a number of processors, as 2, 0.5 or 50%";
	size_t whole = strspn(text, "0123456789");
	const char *at = text + whole;
	uint64_t milli = 0;
	size_t digits = 0;
	bool percent;

	if (whole == 0 || whole > 5)
		return wrong;
	for (size_t i = 0; i < whole; i++)
		milli = 10 * milli + (uint64_t)(text[i] - '0');
	if (*at == '.') {
		digits = strspn(++at, "0123456789");
		if (digits == 0 || digits > 3)
			return wrong;
	}
	percent = at[digits] == '%';
	if (percent && digits > 1)
		return wrong; /* finer than a thousandth of one */
	for (size_t i = 0; i < (percent ? 1 : 3); i++)
		milli = 10 * milli + (i < digits ? (uint64_t)(at[i] - '0') : 0);
	if (at[digits + percent] != '\0' || milli == 0)
		return wrong;
	*ret = milli;
	return NULL;
}

static const char *parse_seconds(const char *text, uint64_t *ret)
{
	int64_t ms;

	if (fence_parse_duration(text, &ms) < 0 || ms < 1000 || ms % 1000 != 0)
		return "it is a time in whole seconds, as 30s or 5m";
	*ret = (uint64_t)ms / 1000;
	return NULL;
}

static const struct {
	const char *word;
	const char *(*parse)(const char *text, uint64_t *ret);
} limits[] = {
	[GUARD_LIMIT_MEMORY] = { "memory", parse_memory },
	[GUARD_LIMIT_PIDS] = { "pids", parse_count },
	[GUARD_LIMIT_CPU] = { "cpu", parse_processors },
	[GUARD_LIMIT_NOFILE] = { "nofile", parse_count },
	[GUARD_LIMIT_FSIZE] = { "fsize", parse_size },
	[GUARD_LIMIT_CORE] = { "core", parse_size },
	[GUARD_LIMIT_CPUTIME] = { "cputime", parse_seconds },
};

const char *guard_limit_word(enum guard_limit limit)
{
	return limits[limit].word;
}

const char *guard_limit_parse(enum guard_limit limit, const char *text, uint64_t *ret)
{
	return limits[limit].parse(text, ret);
}
