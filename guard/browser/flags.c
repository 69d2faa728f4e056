#include "guard/browser/flags.h"

#include <string.h>

enum verdict {
	KEEP,
	DROP,
	REFUSE,
	REFUSE_BAD,
	WARN,
};

struct rule {
	const char *name;
	enum verdict verdict;
	/* Only for such values; NULL: for all. */
	bool (*applies)(const char *value, size_t length);
};

static bool holds(const char *text, size_t length, const char *part)
{
	return length > 0 && memmem(text, length, part, strlen(part)) != NULL;
}

/* Each of --sandbox-testing, --sandbox-fuzzing, --sandbox-trap-fuzzing and
 * --run-as-sandbox-security-poc, and what they stand for, gives the page a way to
 * write anywhere in the renderer. V8 reads `-` and `_` in names as the same. */
static bool opens_v8_memory(const char *value, size_t length)
{
	return holds(value, length, "sandbox") || holds(value, length, "memory-corruption") ||
	       holds(value, length, "memory_corruption");
}

static bool is_no(const char *value, size_t length)
{
	return length == 2 && memcmp(value, "no", 2) == 0;
}

static bool is_any_origin(const char *value, size_t length)
{
	return holds(value, length, "*");
}

static bool is_fixed_port(const char *value, size_t length)
{
	return !(length == 1 && value[0] == '0');
}

static bool is_not_loopback(const char *value, size_t length)
{
	return !(length == 9 && memcmp(value, "127.0.0.1", 9) == 0);
}

static bool turns_isolation_off(const char *value, size_t length)
{
	return holds(value, length, "IsolateOrigins") || holds(value, length, "site-per-process");
}

static const struct rule rules[] = {
	/* Clients add these by habit, and the browser runs well without them. */
	{ "no-sandbox", DROP, NULL },
	{ "disable-setuid-sandbox", DROP, NULL },
	/* Each takes a layer away, or puts another program where a sandboxed one
	 * would be; who asks for them wants something that we do not do. */
	{ "single-process", REFUSE, NULL },
	{ "no-zygote", REFUSE, NULL },
	{ "no-zygote-sandbox", REFUSE, NULL },
	{ "disable-seccomp-filter-sandbox", REFUSE, NULL },
	{ "disable-namespace-sandbox", REFUSE, NULL },
	{ "disable-gpu-sandbox", REFUSE, NULL },
	{ "in-process-gpu", REFUSE, NULL },
	{ "renderer-cmd-prefix", REFUSE, NULL },
	{ "utility-cmd-prefix", REFUSE, NULL },
	{ "zygote-cmd-prefix", REFUSE, NULL },
	{ "gpu-launcher", REFUSE, NULL },
	{ "browser-subprocess-path", REFUSE, NULL },
	{ "allow-sandbox-debugging", REFUSE, NULL },
	{ "disable-landlock-sandbox", REFUSE, NULL },
	{ "gpu-sandbox-allow-sysv-shm", REFUSE, NULL },
	{ "gpu-sandbox-failures-fatal", REFUSE, is_no },
	{ "disable-webnn-compiler-sandbox", REFUSE, NULL },
	{ "js-flags", REFUSE, opens_v8_memory },
	/* A child's own switch: with it the program is no browser at all. */
	{ "type", REFUSE_BAD, NULL },
	{ "disable-site-isolation-trials", WARN, NULL },
	{ "disable-site-isolation-for-policy", WARN, NULL },
	{ "process-per-site", WARN, NULL },
	{ "disable-features", WARN, turns_isolation_off },
	{ "disable-web-security", WARN, NULL },
	{ "remote-allow-origins", WARN, is_any_origin },
	{ "remote-debugging-port", WARN, is_fixed_port },
	{ "remote-debugging-address", WARN, is_not_loopback },
};

/* base::kWhitespaceASCII; isspace(3) would ask the locale. */
static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *trim(const char *word, size_t *ret_length)
{
	size_t length;

	while (is_blank(*word))
		word++;
	length = strlen(word);
	while (length > 0 && is_blank(word[length - 1]))
		length--;
	*ret_length = length;
	return word;
}

bool flag_ends_switches(const char *word)
{
	size_t length;

	word = trim(word, &length);
	return length == 2 && memcmp(word, "--", 2) == 0;
}

bool flag_parse(const char *word, struct flag *ret)
{
	const char *equals;
	size_t length, prefix;

	word = trim(word, &length);
	if (length == 0 || word[0] != '-')
		return false;
	prefix = length > 1 && word[1] == '-' ? 2 : 1;
	if (length == prefix)
		return false;
	word += prefix;
	length -= prefix;
	equals = memchr(word, '=', length);
	*ret = (struct flag){ .name = word, .name_length = length };
	if (equals != NULL) {
		ret->name_length = (size_t)(equals - word);
		ret->value = equals + 1;
		ret->value_length = length - ret->name_length - 1;
	}
	return true;
}

static bool is_named(const struct flag *flag, const char *name)
{
	return strlen(name) == flag->name_length &&
	       memcmp(flag->name, name, flag->name_length) == 0;
}

static enum verdict judge(const struct flag *flag)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (!is_named(flag, rules[i].name))
			continue;
		if (rules[i].applies == NULL ||
		    rules[i].applies(flag->value ? flag->value : "", flag->value_length))
			return rules[i].verdict;
	}
	return KEEP;
}

static void blame(struct flags_report *report, enum reason reason, size_t at,
		  const struct flag *flag)
{
	if (report->reason != REASON_OK)
		return;
	report->reason = reason;
	report->refused_at = at;
	report->refused = *flag;
}

/* True: the word stays. */
static bool take(struct flags_report *report, bool strict, size_t at, const struct flag *flag)
{
	switch (judge(flag)) {
	case DROP:
		report->dropped++;
		if (strict)
			blame(report, REASON_WEAKENING_FLAG, at, flag);
		return false;
	case REFUSE:
		blame(report, REASON_WEAKENING_FLAG, at, flag);
		return false;
	case REFUSE_BAD:
		blame(report, REASON_BAD_FLAG, at, flag);
		return false;
	case WARN:
		report->risky++;
		break;
	case KEEP:
		break;
	}
	if (is_named(flag, "user-data-dir"))
		report->user_data_dir = *flag;
	return true;
}

void flags_filter(char *const *words, size_t count, bool strict, const char **ret_words,
		  struct flags_report *ret)
{
	bool reads_switches = true;
	size_t kept = 0;

	*ret = (struct flags_report){ .reason = REASON_OK };
	for (size_t i = 0; i < count; i++) {
		struct flag flag;

		reads_switches = reads_switches && !flag_ends_switches(words[i]);
		if (!reads_switches || !flag_parse(words[i], &flag) || take(ret, strict, i, &flag))
			ret_words[kept++] = words[i];
	}
	ret_words[kept] = NULL;
}

bool flags_are_clean(char *const *words, size_t count)
{
	for (size_t i = 0; i < count && !flag_ends_switches(words[i]); i++) {
		struct flag flag;
		enum verdict verdict;

		if (!flag_parse(words[i], &flag))
			continue;
		verdict = judge(&flag);
		if (verdict == DROP || verdict == REFUSE || verdict == REFUSE_BAD)
			return false;
	}
	return true;
}
