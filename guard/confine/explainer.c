#include "guard/confine/explainer.h"

#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/kernel.h"
#include "fence/own.h"
#include "fence/spawn.h"
#include "fence/sys.h"
#include "guard/confine/asking.h"
#include "guard/confine/judging.h"
#include "guard/confine/plan.h"
#include "guard/confine/plan_build.h"
#include "guard/confine/report.h"
#include "guard/confine/steps.h"
#include "guard/confine/tracee.h"

#define LINE_BYTES 9216 /* a path may be four times as long when it is made safe: cut */
#define SEEN	   256

struct explainer {
	struct guard_plan plan;
	struct sock_fprog enforcing;
	int listener;
	int out_fd;
	unsigned int told;
	uint64_t seen[SEEN]; /* what was told of already, by hash */
};

/* The kernel's structs may have grown: these have room. */
union notice {
	struct seccomp_notif notif;
	struct seccomp_notif_resp response;
	char room[512];
};

/* --- telling ----------------------------------------------------------------------------- */

/* FNV-1a */
static uint64_t hash(const char *text)
{
	uint64_t value = UINT64_C(14695981039346656037);

	for (; *text != '\0'; text++)
		value = (value ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return value | 1;
}

static bool is_known(struct explainer *explainer, const char *words)
{
	uint64_t value = hash(words);
	uint64_t *place = &explainer->seen[value / 2 % SEEN];
	bool known = *place == value;

	*place = value;
	return known;
}

/* A reader who does not read must not stop those who wait for an answer. */
static void put_line(const struct explainer *explainer, const struct fence_text *line)
{
	if (fence_write_nowait(explainer->out_fd, line->buf, line->length_bytes) == -EOPNOTSUPP)
		(void)fence_write_full(explainer->out_fd, line->buf, line->length_bytes);
}

static void tell(struct explainer *explainer, pid_t pid, const char *words)
{
	char buf[LINE_BYTES + 64];
	struct fence_text line;
	char name[17];

	fence_text_init(&line, buf, sizeof(buf));
	if (explainer->told == GUARD_EXPLAINED_MAX)
		fence_text_add(&line,
			       "fence-guard: explain: %u refusals were told of; no more are\n",
			       explainer->told);
	if (explainer->told < GUARD_EXPLAINED_MAX) {
		guard_tracee_name(pid, name);
		fence_text_add(&line, "fence-guard: explain: %d (", (int)pid);
		fence_text_add_safe(&line, name, strlen(name));
		fence_text_add(&line, ") %s\n", words);
	}
	if (explainer->told++ <= GUARD_EXPLAINED_MAX)
		put_line(explainer, &line);
}

/* Only what the caller still waits for is its own: a number may be somebody else's by now. */
static bool still_waits(const struct explainer *explainer, uint64_t id)
{
	return fence_ioctl(explainer->listener, (unsigned int)SECCOMP_IOCTL_NOTIF_ID_VALID, &id) ==
	       0;
}

static void explain(struct explainer *explainer, const struct seccomp_notif *notif, int error)
{
	pid_t pid = (pid_t)notif->pid;
	char buf[LINE_BYTES];
	struct fence_text words;

	if (explainer->told > GUARD_EXPLAINED_MAX)
		return;
	fence_text_init(&words, buf, sizeof(buf));
	if (!guard_judge_call(&explainer->plan, pid, &notif->data, error, &words) ||
	    guard_tracee_is_init(pid) || !still_waits(explainer, notif->id))
		return;
	if (!is_known(explainer, buf))
		tell(explainer, pid, buf);
}

/* --- answering --------------------------------------------------------------------------- */

/* The errno that the enforcing filter has for it; 0: it lets it pass. */
static int refusal_of(const struct explainer *explainer, const struct seccomp_data *data)
{
	unsigned int answer = guard_asking_answer(&explainer->enforcing, data);

	if (answer == SECCOMP_RET_ALLOW)
		return 0;
	if ((answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return (int)(answer & SECCOMP_RET_DATA);
	return EPERM; /* the kernel itself would not have asked */
}

static void answer_one(struct explainer *explainer)
{
	union notice asked = { .room = { 0 } };
	union notice told = { .room = { 0 } };
	int error;

	/* ENOENT: whoever asked is gone. */
	if (fence_ioctl(explainer->listener, (unsigned int)SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		return;
	error = refusal_of(explainer, &asked.notif.data);
	explain(explainer, &asked.notif, error);
	told.response.id = asked.notif.id;
	told.response.error = -error;
	if (error == 0)
		told.response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)fence_ioctl(explainer->listener, (unsigned int)SECCOMP_IOCTL_NOTIF_SEND, &told);
}

/* The listener hangs up when the last process below the filter is gone. */
static void answer_all(struct explainer *explainer)
{
	struct pollfd event = { .fd = explainer->listener, .events = POLLIN };

	while (poll(&event, 1, -1) > 0 || errno == EINTR) {
		if (event.revents & POLLIN)
			answer_one(explainer);
		else if (event.revents != 0)
			return;
	}
}

/* --- the plan of a root of its own ----------------------------------------------------------- */

/* It can be made nowhere but in that root, where we are not: init has it, and tells it, each
 * operation a packet after one with their number. */
struct told_op {
	enum guard_op_kind kind;
	bool named, shut, skip;
	size_t rule; /* that it comes from; rule_count: none */
	char path[PATH_MAX];
};

static size_t rule_of(const struct guard_policy *policy, const char *origin)
{
	size_t at = 0;

	while (at < policy->rule_count && policy->rules[at].path != origin)
		at++;
	return at;
}

int guard_explainer_tell(const struct guard_plan *plan, int sock, struct fence_err *err)
{
	int rc = fence_write_full(sock, &plan->count, sizeof(plan->count));

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		const struct guard_op *op = &plan->ops[i];
		struct told_op told = {
			.kind = op->kind,
			.named = op->named,
			.shut = op->shut,
			.skip = op->skip,
			.rule = rule_of(plan->policy, op->origin),
		};

		memcpy(told.path, op->path, op->length + 1);
		rc = fence_write_full(sock, &told, sizeof(told));
	}
	return rc < 0 ? fence_fail(err, rc, "tell the explaining process what is planned") : 0;
}

static int take_op(struct guard_plan *plan, int sock)
{
	struct guard_object object = { .fd = -1 };
	struct told_op told;
	int rc;

	if (fence_read_some(sock, &told, sizeof(told)) != sizeof(told))
		return -EPIPE;
	memcpy(object.path, told.path, sizeof(object.path));
	plan->current =
		told.rule < plan->policy->rule_count ? plan->policy->rules[told.rule].path : NULL;
	rc = guard_plan_add(plan, told.kind, told.named, &object, NULL);
	if (rc < 0)
		return rc;
	plan->ops[plan->count - 1].shut = told.shut;
	plan->ops[plan->count - 1].skip = told.skip;
	return 0;
}

static int take_plan(struct guard_plan *plan, int sock)
{
	size_t count;
	int rc = 0;

	if (fence_read_some(sock, &count, sizeof(count)) != sizeof(count))
		return -EPIPE; /* there is no command */
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = take_op(plan, sock);
	return rc;
}

/* --- the process --------------------------------------------------------------------------- */

/* Nobody who waits for the command's output, or for a pipe that it keeps, waits for us. */
static int keep_only(struct explainer *explainer, int sock)
{
	int low = sock < explainer->out_fd ? sock : explainer->out_fd;
	int high = sock < explainer->out_fd ? explainer->out_fd : sock;
	int rc = 0;

	if (low > 0)
		rc = fence_close_range(0, (unsigned int)low - 1, 0);
	if (rc == 0 && high > low + 1)
		rc = fence_close_range((unsigned int)low + 1, (unsigned int)high - 1, 0);
	if (rc == 0)
		rc = fence_close_range((unsigned int)high + 1, ~0U, 0);
	return rc < 0 ? rc : fence_fix_stdio();
}

static int prepare(struct explainer *explainer, const struct guard_policy *policy,
		   struct fence_err *err)
{
	struct rlimit limit;

	/* A descriptor for every path, as init has it. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	explainer->plan.look_only = true;
	explainer->plan.real_root = guard_is_privileged();
	explainer->enforcing = guard_filter(policy);
	explainer->out_fd = policy->explain_fd;
	explainer->plan.policy = policy;
	return policy->root != NULL ? 0 : guard_plan_build(&explainer->plan, policy, err);
}

/* -1: there is none, since there is no command. */
static int take_listener(int sock)
{
	struct pollfd event = { .fd = sock, .events = POLLIN };
	struct guard_report report;
	int listener = -1;
	int rc;

	while (poll(&event, 1, -1) < 0 && errno == EINTR)
		;
	rc = guard_report_take(sock, &report, &listener);
	/* It came and did not get here: the launcher ends the command for that. */
	if (listener < 0 && rc != -EPIPE)
		_exit(1);
	return listener;
}

__attribute__((noreturn)) static void
run(const struct guard_plan *plan, const struct guard_policy *policy, int sock, pid_t launcher)
{
	struct explainer explainer = { .listener = -1, .plan = *plan };
	struct fence_err err = { 0 };
	int rc;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 || getppid() != launcher)
		_exit(1);
	/* What cannot be planned is exec's own failure, and told by it. */
	if (prepare(&explainer, policy, &err) < 0)
		_exit(0);
	if (keep_only(&explainer, sock) < 0)
		_exit(1);
	rc = policy->root != NULL ? take_plan(&explainer.plan, sock) : 0;
	if (rc < 0)
		_exit(rc == -EPIPE ? 0 : 1);
	explainer.listener = take_listener(sock);
	(void)close(sock);
	if (explainer.listener < 0)
		_exit(0); /* there is no command */
	answer_all(&explainer);
	_exit(0);
}

int guard_explainer_start(const struct guard_plan *plan, const struct guard_policy *policy,
			  pid_t *ret_pid, int *ret_sock, struct fence_err *err)
{
	pid_t launcher = getpid();
	int pair[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return fence_fail(err, -errno, "make a socket pair");
	rc = fence_spawn_fork(0, ret_pid, NULL);
	if (rc == 0) {
		(void)close(pair[1]);
		run(plan, policy, pair[0], launcher);
	}
	(void)close(pair[0]);
	if (rc < 0) {
		(void)close(pair[1]);
		return fence_fail(err, rc, "start the explaining process");
	}
	*ret_sock = pair[1];
	return 0;
}

/* --- in init --------------------------------------------------------------------------------- */

static int load(struct sock_fprog *program)
{
	/* Without the second flag (before 5.19) a signal interrupts a call that is asked about
	 * already, and it is asked about again. */
	int fd = fence_seccomp(SECCOMP_SET_MODE_FILTER,
			       SECCOMP_FILTER_FLAG_NEW_LISTENER |
				       SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			       program);

	if (fd != -EINVAL)
		return fd;
	return fence_seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, program);
}

int guard_explainer_load(const struct guard_policy *policy, int sock, struct fence_err *err)
{
	struct sock_filter lines[GUARD_ASKING_MAX];
	struct sock_fprog enforcing = guard_filter(policy);
	struct sock_fprog asking = { .filter = lines };
	struct guard_report report = { .kind = GUARD_REPORT_STARTED };
	int watched[GUARD_WATCHED_MAX];
	owned_fd listener = -1;
	int rc = guard_asking_build(&enforcing, watched, guard_watched_calls(watched), lines);

	if (rc > 0)
		asking.len = (unsigned short)rc;
	if (rc > 0)
		rc = listener = load(&asking);
	if (rc >= 0)
		rc = guard_report_send(sock, &report, listener);
	return rc < 0 ? fence_fail(err, rc, "install the seccomp filter that asks") : 0;
}
