#include "guard/confine/record.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sched.h>
#include <string.h>

#include "fence/jsonw.h"
#include "fence/limit.h"
#include "fence/sys.h"
#include "guard/confine/cause.h"

#define SCHEMA	   "fence-guard-status/v1"
#define LINE_BYTES 32768

static void begin(struct fence_jsonw *w, char *buf, size_t size_bytes, const char *event)
{
	fence_jsonw_init(w, buf, size_bytes);
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_head(w, SCHEMA, "fence-guard");
	fence_jsonw_string(w, "event", event);
}

static int end(struct fence_jsonw *w, int fd)
{
	fence_jsonw_close(w, '}');
	return fence_jsonw_line(w, fd);
}

int guard_record_failure(int fd, const struct guard_report *report)
{
	char buf[LINE_BYTES];
	struct fence_jsonw w;

	begin(&w, buf, sizeof(buf), "failure");
	fence_jsonw_string(&w, "stage", report->stage);
	fence_jsonw_int(&w, "status", report->status);
	fence_jsonw_int(&w, "errno", -report->err.code);
	fence_jsonw_string(&w, "error", fence_errno_name(report->err.code));
	fence_jsonw_string(&w, "what", report->err.what);
	fence_jsonw_string(&w, "why",
			   report->err.why[0] != '\0' ? report->err.why
						      : fence_errno_words(report->err.code));
	fence_jsonw_string(&w, "path", report->path[0] == '\0' ? NULL : report->path);
	fence_jsonw_string(&w, "hint", report->err.hint[0] == '\0' ? NULL : report->err.hint);
	return end(&w, fd);
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

static void put_layers(struct fence_jsonw *w, const struct guard_confine *confine,
		       const struct guard_exec_record *record)
{
	const char *confined = confine->policy->profile->confine ? "enforced" : "off";
	bool narrow = confine->policy->profile->narrow;

	fence_jsonw_open(w, "layers", '{');
	fence_jsonw_string(w, "namespaces",
			   narrow			  ? "off"
			   : confine->shares_cgroup_names ? "degraded"
							  : "enforced");
	fence_jsonw_string(w, "mounts",
			   narrow		 ? "off"
			   : record->proc_masked ? "degraded"
						 : confined);
	fence_jsonw_string(w, "capabilities", confined);
	fence_jsonw_string(w, "seccomp", confined);
	fence_jsonw_string(w, "landlock", layer_word(record->landlock));
	fence_jsonw_close(w, '}');
}

static void put_cause(struct fence_jsonw *w, const char *layer, const char *word,
		      const char *remedy)
{
	fence_jsonw_open(w, NULL, '{');
	fence_jsonw_string(w, "layer", layer);
	fence_jsonw_string(w, "cause", word);
	fence_jsonw_string(w, "remedy", remedy);
	fence_jsonw_close(w, '}');
}

static void put_reason(struct fence_jsonw *w, const char *layer, enum guard_step step, int rc)
{
	struct guard_cause cause;

	guard_cause_find(step, rc, &cause);
	put_cause(w, layer, cause.word, cause.remedy);
}

/* Why a layer is less than it could be. */
static void put_degraded(struct fence_jsonw *w, const struct guard_confine *confine,
			 const struct guard_exec_record *record)
{
	int rc;

	fence_jsonw_open(w, "degraded", '[');
	if (confine->shares_cgroup_names)
		put_reason(w, "namespaces", GUARD_STEP_CGROUPNS, -EPERM);
	if (record->proc_masked)
		put_reason(w, "mounts", GUARD_STEP_PROC, -EPERM);
	if (confine->policy->allow_nesting) {
		put_cause(
			w, "landlock", "nesting",
			"a Landlock rule for files forbids all mounts: leave --allow-nesting out");
	} else if (confine->policy->profile->confine && record->landlock != GUARD_LAYER_ENFORCED) {
		rc = fence_landlock_create(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
		put_reason(w, "landlock", GUARD_STEP_LANDLOCK, rc < 0 ? rc : -ENOSYS);
	}
	fence_jsonw_close(w, ']');
}

static void put_namespaces(struct fence_jsonw *w, uint64_t flags)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} kinds[] = {
		{ CLONE_NEWUSER, "user" },     { CLONE_NEWNS, "mount" }, { CLONE_NEWPID, "pid" },
		{ CLONE_NEWNET, "net" },       { CLONE_NEWIPC, "ipc" },	 { CLONE_NEWUTS, "uts" },
		{ CLONE_NEWCGROUP, "cgroup" },
	};

	fence_jsonw_open(w, "namespaces", '[');
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (flags & kinds[i].flag)
			fence_jsonw_string(w, NULL, kinds[i].name);
	fence_jsonw_close(w, ']');
}

/* Names that would make the line too long are left out, and counted. */
static void put_list(struct fence_jsonw *w, const char *key, const struct guard_names *list)
{
	size_t left_out = 0;

	fence_jsonw_open(w, key, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (w->length_bytes + 6 * strlen(list->items[i]) + 1024 > w->size_bytes)
			left_out++;
		else
			fence_jsonw_string(w, NULL, list->items[i]);
	}
	fence_jsonw_close(w, ']');
	if (left_out > 0)
		fence_jsonw_uint(w, "namesLeftOut", left_out);
}

/* What became of the repositories that the profile gives copies of. */
static void put_git(struct fence_jsonw *w, const struct guard_exec_record *record)
{
	struct guard_cause cause;

	fence_jsonw_open(w, "git", '[');
	for (size_t i = 0; i < record->git.count && i < GUARD_PRIVATES_MAX; i++) {
		if (w->length_bytes + 6 * strlen(record->git.items[i]) + 2048 > w->size_bytes)
			break;
		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_string(w, "path", record->git.items[i]);
		fence_jsonw_string(w, "mode", record->git_rcs[i] == 0 ? "private" : "read-only");
		if (record->git_rcs[i] != 0) {
			guard_cause_find(GUARD_STEP_OVERLAY, record->git_rcs[i], &cause);
			fence_jsonw_string(w, "cause", cause.word);
			fence_jsonw_string(w, "remedy", cause.remedy);
		}
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
}

/* Where what was done is, of each of `discarded` of which there is something to say. */
static void put_kept(struct fence_jsonw *w, const struct guard_exec_record *record)
{
	fence_jsonw_open(w, "kept", '[');
	for (size_t i = 0; i < record->kept_why.count; i++) {
		const char *folder = record->kept.items[i];
		const char *why = record->kept_why.items[i];

		if ((folder[0] == '\0' && why[0] == '\0') ||
		    w->length_bytes + 6 * strlen(record->discarded.items[i]) + 2048 > w->size_bytes)
			continue;
		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_string(w, "path", record->discarded.items[i]);
		fence_jsonw_string(w, "folder", folder[0] == '\0' ? NULL : folder);
		fence_jsonw_string(w, "why", why[0] == '\0' ? NULL : why);
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
}

static void put_bound(struct fence_jsonw *w, const char *key, const char *unit, uint64_t most,
		      bool by_rlimit)
{
	if (most == GUARD_UNLIMITED)
		return;
	fence_jsonw_open(w, key, '{');
	fence_jsonw_uint(w, unit, most);
	fence_jsonw_string(w, "by", by_rlimit ? "rlimit" : "cgroup");
	fence_jsonw_close(w, '}');
}

static void put_amount(struct fence_jsonw *w, const char *key, uint64_t amount)
{
	if (amount == UINT64_MAX)
		fence_jsonw_null(w, key);
	else
		fence_jsonw_uint(w, key, amount);
}

/* What is in force of what was asked for. */
static void put_limits(struct fence_jsonw *w, const struct guard_confine *confine)
{
	const struct guard_policy *policy = confine->policy;

	fence_jsonw_open(w, "limits", '{');
	put_bound(w, "memory", "bytes", policy->limits[GUARD_LIMIT_MEMORY], false);
	put_bound(w, "pids", "count", policy->limits[GUARD_LIMIT_PIDS],
		  confine->limits.pids_by_rlimit);
	put_bound(w, "cpu", "thousandths", policy->limits[GUARD_LIMIT_CPU], false);
	fence_jsonw_open(w, "ofEach", '{');
	for (size_t i = 0; i < policy->rlimit_count; i++) {
		fence_jsonw_open(w, fence_limit_name(policy->rlimits[i].resource), '{');
		put_amount(w, "soft", policy->rlimits[i].soft);
		put_amount(w, "hard", policy->rlimits[i].hard);
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, '}');
	fence_jsonw_close(w, '}');
}

/* How many the file names; it is in the record itself. */
static void put_own_calls(struct fence_jsonw *w, const struct guard_policy *policy)
{
	size_t allowed = 0;

	if (policy->call_count == 0)
		return;
	for (size_t i = 0; i < policy->call_count; i++)
		allowed += policy->calls[i].error == 0;
	fence_jsonw_open(w, "ownCalls", '{');
	fence_jsonw_uint(w, "allowed", allowed);
	fence_jsonw_uint(w, "denied", policy->call_count - allowed);
	fence_jsonw_close(w, '}');
}

static void put_port_list(struct fence_jsonw *w, const char *key,
			  const struct guard_port_list *list)
{
	fence_jsonw_open(w, key, '[');
	for (size_t i = 0; i < list->count; i++) {
		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_uint(w, "first", list->ranges[i].first);
		fence_jsonw_uint(w, "last", list->ranges[i].last);
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
}

static void put_ports(struct fence_jsonw *w, const struct guard_policy *policy)
{
	if (policy->net != GUARD_NET_PORTS)
		return;
	fence_jsonw_open(w, "ports", '{');
	put_port_list(w, "connect", &policy->ports.connect);
	put_port_list(w, "bind", &policy->ports.bind);
	fence_jsonw_close(w, '}');
}

/* What a group counted; nothing where there was none. */
static void put_use(struct fence_jsonw *w, const struct guard_limits *limits)
{
	struct fence_cgroup_use use;

	if (limits->group == NULL)
		return;
	fence_cgroup_bound_use(limits->group, &use);
	fence_jsonw_open(w, "used", '{');
	if (use.memory_known)
		fence_jsonw_uint(w, "memoryKills", use.memory_kills);
	if (use.memory_peak_bytes > 0)
		fence_jsonw_uint(w, "memoryPeakBytes", use.memory_peak_bytes);
	if (use.pids_known)
		fence_jsonw_uint(w, "birthsRefused", use.pids_refused);
	fence_jsonw_close(w, '}');
}

int guard_record_exec(int fd, const struct guard_confine *confine,
		      const struct guard_exec_record *record)
{
	const struct guard_policy *policy = confine->policy;
	char buf[LINE_BYTES];
	struct fence_jsonw w;

	begin(&w, buf, sizeof(buf), "exec");
	fence_jsonw_int(&w, "pid", record->pid);
	fence_jsonw_int(&w, "initPid", record->init_pid);
	fence_jsonw_string(&w, "profile", policy->profile->name);
	if (policy->file != NULL) {
		fence_jsonw_string(&w, "policyFile", policy->file_path);
		fence_jsonw_string(&w, "policyProfile", policy->profile_name);
	}
	if (policy->root != NULL)
		fence_jsonw_string(&w, "root", policy->root);
	put_layers(&w, confine, record);
	put_degraded(&w, confine, record);
	put_namespaces(&w, guard_confine_namespaces(confine));
	fence_jsonw_string(&w, "filter",
			   policy->profile->confine ? guard_seccomp_word(policy->seccomp) : "off");
	put_own_calls(&w, policy);
	fence_jsonw_string(&w, "network", guard_net_word(policy->net));
	put_ports(&w, policy);
	put_limits(&w, confine);
	fence_jsonw_string(&w, "proc",
			   policy->profile->narrow ? "host"
			   : record->proc_masked   ? "masked"
						   : "fresh");
	put_git(&w, record);
	put_list(&w, "absentDenied", &record->absent_denied);
	put_list(&w, "placeholders", &record->placeholders);
	return end(&w, fd);
}

static int64_t ms_of(const struct timeval *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_usec / 1000;
}

static void put_leftover(struct fence_jsonw *w, const struct guard_leftover *left)
{
	if (!left->known) {
		fence_jsonw_null(w, "leftover");
		return;
	}
	fence_jsonw_open(w, "leftover", '{');
	fence_jsonw_uint(w, "count", left->count);
	fence_jsonw_open(w, "processes", '[');
	for (unsigned int i = 0; i < left->count && i < GUARD_LEFTOVER_NAMED; i++) {
		fence_jsonw_open(w, NULL, '{');
		fence_jsonw_int(w, "pid", left->first[i].pid);
		fence_jsonw_string(w, "name", left->first[i].name);
		fence_jsonw_close(w, '}');
	}
	fence_jsonw_close(w, ']');
	fence_jsonw_close(w, '}');
}

int guard_record_exit(int fd, const struct fence_exit *how, const struct guard_limits *limits,
		      const struct guard_exec_record *record, const struct rusage *usage,
		      int64_t wall_ms)
{
	char buf[LINE_BYTES];
	struct fence_jsonw w;

	begin(&w, buf, sizeof(buf), "exit");
	fence_jsonw_int(&w, how->signalled ? "signal" : "code", how->number);
	fence_jsonw_bool(&w, "coreDumped", how->core);
	put_leftover(&w, &record->leftover);
	put_list(&w, "discarded", &record->discarded);
	if (record->discarded.count > 0)
		put_kept(&w, record);
	fence_jsonw_int(&w, "wallMs", wall_ms);
	fence_jsonw_open(&w, "rusage", '{');
	fence_jsonw_int(&w, "userMs", ms_of(&usage->ru_utime));
	fence_jsonw_int(&w, "systemMs", ms_of(&usage->ru_stime));
	fence_jsonw_int(&w, "peakRssBytes", (int64_t)usage->ru_maxrss * 1024);
	fence_jsonw_close(&w, '}');
	put_use(&w, limits);
	return end(&w, fd);
}
