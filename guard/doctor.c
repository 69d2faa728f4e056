#include "guard/doctor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fence/jsonw.h"
#include "guard/confine/steps.h"
#include "guard/confine/trial.h"
#include "guard/policy/policy.h"

#define SCHEMA	      "fence-guard-doctor/v1"
#define EXIT_DEGRADED 1
#define EXIT_REFUSED  77

struct conf {
	bool json;
};

static const struct fence_opt options[] = {
	{ 0, "json", NULL, "one JSON object instead of words", FENCE_OPT_TRUE(struct conf, json) },
};

const struct fence_cli guard_doctor_cli = {
	.program = "fence-guard",
	.verb = "doctor",
	.summary = "try what this host can enforce, and say what to change",
	.opts = options,
	.count = sizeof(options) / sizeof(options[0]),
	.notes = "Each step of a confinement is tried for real, in a child; nothing lasts.\n"
		 "\n"
		 "Exit status: 0 profile gate gets every layer; 1 it starts with less than\n"
		 "that; 77 it would be refused; 64 wrong options.\n",
};

struct report {
	bool privileged;
	struct guard_finding findings[GUARD_TRIAL_COUNT];
	const char *profiles[GUARD_PROFILES_MAX];
	size_t count;
	struct guard_outlook outlooks[GUARD_PROFILES_MAX];
	struct guard_outlook gate;
};

static int status_of(const struct report *report)
{
	if (!report->gate.starts)
		return EXIT_REFUSED;
	return report->gate.whole ? 0 : EXIT_DEGRADED;
}

static const char *verdict_word(int status)
{
	return status == 0 ? "full" : status == EXIT_DEGRADED ? "degraded" : "refused";
}

static const char *layer_word(enum guard_layer layer)
{
	static const char *const words[] = {
		[GUARD_LAYER_OFF] = "off",
		[GUARD_LAYER_DEGRADED] = "degraded",
		[GUARD_LAYER_ENFORCED] = "enforced",
	};

	return words[layer];
}

/* --- words --------------------------------------------------------------------------- */

static void say_finding(struct fence_text *text, enum guard_trial trial,
			const struct guard_finding *finding)
{
	fence_text_add(text, "  %-36s %s", guard_trial_sentence(trial),
		       finding->rc == 0 ? "yes" : "no");
	if (finding->rc != 0)
		fence_text_add(text, ": %s", fence_errno_words(finding->rc));
	if (trial == GUARD_TRIAL_LANDLOCK && finding->rc == 0)
		fence_text_add(text, ", version %d", finding->number);
	fence_text_add(text, "\n");
	if (finding->detail[0] != '\0')
		fence_text_add(text, "      %s\n", finding->detail);
}

/* Each remedy once, with all that it is for. */
static void say_remedies(struct fence_text *text, const struct report *report)
{
	bool told[GUARD_TRIAL_COUNT] = { false };

	for (int i = 0; i < GUARD_TRIAL_COUNT; i++) {
		const struct guard_finding *finding = &report->findings[i];
		const char *between = "";

		if (finding->rc == 0 || told[i])
			continue;
		fence_text_add(text, "\nTo ");
		for (int j = i; j < GUARD_TRIAL_COUNT; j++) {
			const struct guard_finding *other = &report->findings[j];

			if (other->rc == 0 ||
			    strcmp(other->cause.remedy, finding->cause.remedy) != 0)
				continue;
			fence_text_add(text, "%s%s", between,
				       guard_trial_sentence((enum guard_trial)j));
			between = ", ";
			told[j] = true;
		}
		fence_text_add(text, ":\n  %s (%s)\n",
			       finding->cause.remedy[0] != '\0' ? finding->cause.remedy
								: "no cause was found",
			       finding->cause.word);
	}
}

/* The last column needs no blanks behind it. */
static int width_of(int layer)
{
	return layer == GUARD_LAYER_COUNT - 1 ? 0 : 12;
}

static void say_profiles(struct fence_text *text, const struct report *report)
{
	fence_text_add(text, "\n  %-10s %-7s", "profile", "starts");
	for (int j = 0; j < GUARD_LAYER_COUNT; j++)
		fence_text_add(text, " %-*s", width_of(j),
			       guard_layer_name_word((enum guard_layer_name)j));
	for (size_t i = 0; i < report->count; i++) {
		const struct guard_outlook *outlook = &report->outlooks[i];

		fence_text_add(text, "\n  %-10s %-7s", report->profiles[i],
			       outlook->starts ? "yes" : "no");
		for (int j = 0; j < GUARD_LAYER_COUNT; j++)
			fence_text_add(text, " %-*s", width_of(j), layer_word(outlook->layers[j]));
	}
	fence_text_add(text, "\n");
}

static const char *verdict_words(const struct report *report, int status)
{
	if (status == 0)
		return "everything";
	if (status == EXIT_DEGRADED)
		return "profile gate starts, with less";
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->profiles[i], "landlock") == 0 && report->outlooks[i].starts)
			return "profile gate is refused, profile landlock starts";
	return "profile gate is refused";
}

static void say(struct fence_text *text, const struct report *report)
{
	int status = status_of(report);

	fence_text_add(text, "What this host lets fence-guard do, as %s: %s\n\n",
		       report->privileged ? "root" : "a plain user", verdict_words(report, status));
	for (int i = 0; i < GUARD_TRIAL_COUNT; i++)
		say_finding(text, (enum guard_trial)i, &report->findings[i]);
	say_profiles(text, report);
	say_remedies(text, report);
}

/* --- JSON ----------------------------------------------------------------------------- */

static void put_finding(struct fence_jsonw *w, enum guard_trial trial,
			const struct guard_finding *finding)
{
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_string(w, "name", guard_trial_word(trial));
	fence_jsonw_bool(w, "works", finding->rc == 0);
	if (finding->rc != 0) {
		fence_jsonw_int(w, "errno", -finding->rc);
		fence_jsonw_string(w, "error", fence_errno_name(finding->rc));
		fence_jsonw_string(w, "cause", finding->cause.word);
		fence_jsonw_string(w, "remedy", finding->cause.remedy);
	}
	if (trial == GUARD_TRIAL_LANDLOCK && finding->rc == 0)
		fence_jsonw_int(w, "abi", finding->number);
	if (finding->detail[0] != '\0')
		fence_jsonw_string(w, "detail", finding->detail);
	fence_jsonw_close(w, '}');
}

static void put_profile(struct fence_jsonw *w, const char *name,
			const struct guard_outlook *outlook)
{
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_string(w, "name", name);
	fence_jsonw_bool(w, "starts", outlook->starts);
	fence_jsonw_open(w, "layers", '{');
	for (int i = 0; i < GUARD_LAYER_COUNT; i++)
		fence_jsonw_string(w, guard_layer_name_word((enum guard_layer_name)i),
				   layer_word(outlook->layers[i]));
	fence_jsonw_close(w, '}');
	fence_jsonw_open(w, "lacks", '[');
	for (int i = 0; i < GUARD_TRIAL_COUNT; i++)
		if (outlook->lacks[i])
			fence_jsonw_string(w, NULL, guard_trial_word((enum guard_trial)i));
	fence_jsonw_close(w, ']');
	fence_jsonw_close(w, '}');
}

static int put(struct fence_text *text, const struct report *report)
{
	char buf[16000];
	struct fence_jsonw w;

	fence_jsonw_init(&w, buf, sizeof(buf));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_head(&w, SCHEMA, "fence-guard");
	fence_jsonw_string(&w, "verdict", verdict_word(status_of(report)));
	fence_jsonw_uint(&w, "uid", (uint64_t)geteuid());
	fence_jsonw_bool(&w, "privileged", report->privileged);
	fence_jsonw_open(&w, "steps", '[');
	for (int i = 0; i < GUARD_TRIAL_COUNT; i++)
		put_finding(&w, (enum guard_trial)i, &report->findings[i]);
	fence_jsonw_close(&w, ']');
	fence_jsonw_open(&w, "profiles", '[');
	for (size_t i = 0; i < report->count; i++)
		put_profile(&w, report->profiles[i], &report->outlooks[i]);
	fence_jsonw_close(&w, ']');
	fence_jsonw_close(&w, '}');
	if (w.overflow)
		return -EOVERFLOW;
	fence_text_add_bytes(text, buf, w.length_bytes);
	fence_text_add(text, "\n");
	return 0;
}

static void foresee(struct report *report)
{
	report->count = guard_profile_names(report->profiles);
	for (size_t i = 0; i < report->count; i++)
		guard_outlook(report->findings, guard_profile_find(report->profiles[i]),
			      report->privileged, &report->outlooks[i]);
	guard_outlook(report->findings, guard_profile_find("gate"), report->privileged,
		      &report->gate);
}

int guard_doctor_main(int argc, char *const *argv, struct fence_text *text, struct fence_err *err)
{
	struct conf conf = { .json = false };
	struct report report = { .privileged = guard_is_privileged() };
	int rest = 0;
	int answer = fence_opts_parse(&guard_doctor_cli, argc, argv, &conf, &rest, text, err);

	if (answer == FENCE_OPTS_TEXT)
		return 0;
	if (answer >= 0 && argv[rest] != NULL)
		answer = fence_fail_why(err, -EINVAL, "doctor takes no operands", "%s", argv[rest]);
	if (answer < 0)
		return 64;
	if (guard_trial_all(report.findings, err) < 0)
		return EXIT_REFUSED;
	foresee(&report);
	if (!conf.json)
		say(text, &report);
	else if (put(text, &report) < 0) {
		fence_fail(err, -EOVERFLOW, "write the report");
		return EXIT_REFUSED;
	}
	return status_of(&report);
}
