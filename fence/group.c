#include "fence/group.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_priv.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "fence/tree.h"

#define ORPHAN_LOOK_MS	  1
#define ORPHAN_SURVIVE_MS 2000
#define TELL_LOOK_MS	  100

struct fence_group {
	struct fence_group_shared *shared;
	size_t shared_bytes;
	pid_t monitor; /* 0: reaped */
	int control_fd;
	int spare_fds[FENCE_GROUP_SPARE_FDS];
	bool ended;
	void (*ending)(void *arg, enum fence_cause cause);
	void (*told)(void *arg, const struct fence_group_event *event);
	void *arg;
};

void fence_group_plan_init(struct fence_group_plan *plan)
{
	*plan = (struct fence_group_plan){
		.spawn = {
			.session = FENCE_SPAWN_OWN_SESSION,
			.stdio = { -1, -1, -1 },
			.umask = -1,
		},
		.grace_ms = 5000,
		.term_scope = FENCE_TERM_GROUP,
		.leftover = FENCE_LEFTOVER_KILL,
		.contain = FENCE_GROUP_SUBREAPER,
		.tee_fd = { -1, -1 },
		.log_fd = -1,
		.pty_fd = -1,
		.drain_idle_ms = 200,
		.drain_cap_ms = 2000,
		.with_start_ticks = true,
	};
}

int fence_group_prepare(sigset_t *ret_mask, struct fence_err *err)
{
	sigset_t all;
	int rc;

	/* With SIGCHLD ignored the kernel would reap for us, and nobody could say
	 * how anything ended. */
	fence_sigset_fill(&all);
	if (sigprocmask(SIG_SETMASK, &all, ret_mask) < 0)
		return fence_fail(err, -errno, "block signals");
	rc = fence_signal_default(SIGCHLD);
	if (rc < 0)
		return fence_fail(err, rc, "take over SIGCHLD");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return fence_fail(err, -errno, "become a child subreaper");
	rc = fence_proc_probe();
	if (rc == -EXDEV)
		(void)fence_fail_why(err, rc, "it belongs to another pid namespace", "use /proc");
	else if (rc < 0)
		(void)fence_fail(err, rc, "use /proc");
	return rc < 0 ? (fence_hint(err, "mount a proc file system there"), rc) : 0;
}

/* --- birth --------------------------------------------------------------------- */

static int map_shared(const struct fence_group_plan *plan, struct fence_group *group)
{
	size_t ring_bytes = plan->capture ? plan->tail_bytes : 0;
	size_t head_bytes = plan->capture ? plan->head_bytes : 0;
	size_t size = sizeof(*group->shared) + 2 * ring_bytes + 2 * head_bytes;
	void *memory;

	if (ring_bytes > SIZE_MAX / 8 || head_bytes > SIZE_MAX / 8)
		return -ENOMEM;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	group->shared = memory;
	group->shared_bytes = size;
	group->shared->result.term_at_ms = -1;
	group->shared->result.kill_at_ms = -1;
	group->shared->contain = FENCE_CONTAIN_SUBREAPER;
	group->shared->facts.own_group = plan->spawn.session != FENCE_SPAWN_INHERIT;
	for (int i = 0; i < 2; i++) {
		fence_tail_init(&group->shared->tails[i], ring_bytes);
		group->shared->heads[i].size_bytes = head_bytes;
	}
	return 0;
}

static int fork_monitor(const struct fence_group_plan *plan, struct fence_group *group)
{
	int ends[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	group->control_fd = ends[0];
	rc = fence_group_set_aside(ends[0], group->spare_fds);
	if (rc == 0 && (rc = fence_spawn_fork(0, &group->monitor, NULL)) == 0)
		fence_group_monitor(plan, group->shared, ends[1]);
	(void)close(ends[1]);
	return rc < 0 ? rc : 0;
}

int fence_group_start(const struct fence_group_plan *plan, struct fence_group **ret,
		      struct fence_err *err)
{
	struct fence_group *group = calloc(1, sizeof(*group));
	int rc;

	if (group == NULL)
		return fence_fail(err, -ENOMEM, "start a group");
	group->control_fd = -1;
	for (int i = 0; i < FENCE_GROUP_SPARE_FDS; i++)
		group->spare_fds[i] = -1;
	group->ending = plan->ending;
	group->told = plan->told;
	group->arg = plan->arg;
	rc = plan->spawn.keep_count > FENCE_GROUP_KEEP_MAX ? -E2BIG : map_shared(plan, group);
	if (rc == -E2BIG)
		(void)fence_fail(err, rc, "keep %zu descriptors open", plan->spawn.keep_count);
	else if (rc < 0)
		(void)fence_fail(err, rc, "share memory with the monitor");
	else if ((rc = fork_monitor(plan, group)) < 0)
		(void)fence_fail(err, rc, "start the monitor");
	if (rc < 0) {
		fence_group_free(group);
		return rc;
	}
	*ret = group;
	return 0;
}

int fence_group_fd(const struct fence_group *group)
{
	return group->control_fd;
}

/* --- when the monitor was killed -------------------------------------------------- */

struct orphans {
	struct fence_group *group;
	const struct fence_spare *spare;
	unsigned int left, taken;
	pid_t pids[FENCE_GROUP_PIDS];
};

static int take_orphan(pid_t pid, void *arg)
{
	struct orphans *orphans = arg;
	struct fence_group_shared *shared = orphans->group->shared;
	struct fence_exit how;
	struct rusage usage;

	for (size_t i = 0; i < orphans->spare->count; i++)
		if (orphans->spare->pids[i] == pid)
			return 0;
	if (fence_reap_take(pid, &how, &usage) < 0) {
		if (orphans->left < FENCE_GROUP_PIDS)
			orphans->pids[orphans->left] = pid;
		orphans->left++;
		return 0;
	}
	orphans->taken++;
	fence_group_account(shared, &usage);
	shared->ended_count += shared->announced && pid != shared->init;
	if (pid == shared->pid) {
		shared->facts.exit = how;
		shared->facts.exit_known = true;
	}
	return 0;
}

/* About to send the first KILL that is not the monitor's. */
static void note_kill(struct fence_group *group)
{
	struct fence_group_shared *shared = group->shared;

	if (!shared->announced && group->ending != NULL)
		group->ending(group->arg, fence_group_judge_cause(&shared->facts));
	shared->announced = true;
	if (shared->facts.kill_sent)
		return;
	shared->facts.kill_sent = true;
	shared->result.kill_at_ms = (fence_now_us() - shared->start_us) / 1000;
	if (!shared->facts.exit_known)
		shared->facts.kill_to_leader = FENCE_SENDER_REQUEST;
}

static void list_survivors(struct fence_group_result *result, const struct orphans *orphans)
{
	result->survivor_count = orphans->left;
	for (unsigned int i = 0; i < orphans->left && i < FENCE_GROUP_PIDS; i++)
		result->survivor_pids[i] = orphans->pids[i];
}

/* The monitor's cgroup has gone, or goes now since nobody lives there. */
static bool has_no_cgroup(struct fence_group_shared *shared)
{
	int rc = shared->cgroup_path[0] == '\0' ? 0 : fence_cgroup_remove(shared->cgroup_path);

	if (rc != -EBUSY)
		shared->cgroup_path[0] = '\0';
	return rc != -EBUSY;
}

/* What the monitor owned has become ours. Our own children are listed completely,
 * since only we reap them; so an empty list, the spared ones left out, is as good
 * a proof as ECHILD, which other groups' monitors keep from coming. One in which all
 * were dead is none: who lived when the list was made and died before its turn has left
 * us children that are not in it. SIGCHLD may be the caller's to read, so this looks
 * again after a moment instead. */
static void end_orphans(struct fence_group *group, const struct fence_spare *spare)
{
	int64_t stop_at_ms = fence_now_ms() + ORPHAN_SURVIVE_MS;
	struct orphans orphans = { .group = group, .spare = spare };

	for (;;) {
		orphans.left = orphans.taken = 0;
		if (fence_tree_children(take_orphan, &orphans) < 0)
			orphans.left = 1;
		if (orphans.left == 0 && orphans.taken == 0 && has_no_cgroup(group->shared))
			break;
		if (fence_now_ms() >= stop_at_ms) {
			orphans.left = orphans.left > 0 ? orphans.left : 1;
			break;
		}
		if (orphans.left == 0 && orphans.taken > 0)
			continue;
		note_kill(group);
		if (group->shared->cgroup_path[0] != '\0')
			(void)fence_cgroup_kill_path(group->shared->cgroup_path);
		(void)fence_tree_kill_children(spare);
		(void)poll(NULL, 0, ORPHAN_LOOK_MS);
	}
	list_survivors(&group->shared->result, &orphans);
}

static int monitor_lost(struct fence_group *group, struct fence_group *const *others,
			size_t other_count, struct fence_err *err)
{
	struct fence_group_shared *shared = group->shared;
	owned_mem pid_t *pids = calloc(other_count + 1, sizeof(*pids));
	struct fence_spare spare = { .pids = pids };

	if (pids == NULL)
		return fence_fail(err, -ENOMEM, "end what a lost monitor left");
	fence_group_give_back(group->spare_fds);
	for (size_t i = 0; i < other_count; i++)
		if (others[i] != NULL && others[i] != group && others[i]->monitor > 0)
			pids[spare.count++] = others[i]->monitor;
	shared->result.monitor_lost = true;
	shared->facts.monitor_lost = !shared->facts.exit_known;
	/* It may have been killed on the way to telling us that there is a command. */
	shared->facts.started |= shared->pid > 0;
	end_orphans(group, &spare);
	shared->facts.started |= shared->facts.kill_sent;
	if (!shared->facts.started)
		shared->result.failed_errno = ECANCELED;
	fence_group_conclude(shared);
	return 0;
}

int fence_group_step(struct fence_group *group, struct fence_group *const *others,
		     size_t other_count, struct fence_err *err)
{
	struct fence_group_event event;
	struct fence_exit how;
	ssize_t got;
	int rc;

	if (group->ended)
		return 1;
	while ((got = recv(group->control_fd, &event, sizeof(event), MSG_DONTWAIT)) > 0)
		if (got == sizeof(event) && group->told != NULL)
			group->told(group->arg, &event);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (group->monitor > 0) {
		/* Its end of the socket is closed: it is dead, or all but. */
		rc = fence_reap_wait(group->monitor, &how, NULL);
		if (rc < 0)
			return fence_fail(err, rc, "wait for the monitor");
		group->monitor = 0;
	}
	if (!__atomic_load_n(&group->shared->ended, __ATOMIC_ACQUIRE)) {
		rc = monitor_lost(group, others, other_count, err);
		if (rc < 0)
			return rc;
	}
	group->ended = true;
	return 1;
}

/* --- words to the monitor ------------------------------------------------------------ */

static int tell(struct fence_group *group, struct fence_group_packet packet)
{
	struct pollfd room = { .fd = group->control_fd, .events = POLLOUT };

	/* A monitor that is behind makes us wait: a word that was lost could have been the
	 * one to stop. It may be behind because somebody has stopped it. */
	while (send(group->control_fd, &packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		/* It is dying or dead: the next step says so. */
		if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		(void)fence_group_wake(group);
		(void)poll(&room, 1, TELL_LOOK_MS);
	}
	return 0;
}

int fence_group_stop(struct fence_group *group, enum fence_cause cause)
{
	return fence_group_stop_with(group, cause, SIGTERM);
}

int fence_group_stop_with(struct fence_group *group, enum fence_cause cause, int sig)
{
	return tell(group, (struct fence_group_packet){ .word = FENCE_GROUP_STOP,
							.value = (int32_t)cause,
							.sig = sig,
							.grace_ms = -1 });
}

int fence_group_end(struct fence_group *group, enum fence_cause cause)
{
	return tell(group, (struct fence_group_packet){ .word = FENCE_GROUP_END,
							.value = (int32_t)cause,
							.sig = SIGTERM });
}

int fence_group_stop_within(struct fence_group *group, enum fence_cause cause, int64_t grace_ms)
{
	return tell(group, (struct fence_group_packet){ .word = FENCE_GROUP_STOP,
							.value = (int32_t)cause,
							.sig = SIGTERM,
							.grace_ms = grace_ms });
}

int fence_group_signal(struct fence_group *group, int sig)
{
	return tell(group, (struct fence_group_packet){ .word = FENCE_GROUP_SIGNAL, .sig = sig });
}

int fence_group_wake(struct fence_group *group)
{
	int sig;
	int rc = group->monitor > 0 ? fence_reap_stopped(group->monitor, &sig) : 0;

	if (rc > 0 && kill(group->monitor, SIGCONT) < 0)
		return -errno;
	/* ECHILD: it is dead, and only stopped ones were asked for. Its socket says so. */
	return rc < 0 && rc != -ECHILD ? rc : 0;
}

void fence_group_reap_strangers(const struct fence_group *group)
{
	struct fence_exit how;

	/* What the monitor leaves becomes ours when it dies, and is to be accounted for. The
	 * kernel does both at once: who was dead while it lived is none of that. */
	while (fence_reap_look(&how) == 1 && group->monitor > 0 && how.pid != group->monitor &&
	       !fence_reap_is_dead(group->monitor))
		if (fence_reap_take(how.pid, &how, NULL) < 0)
			break;
}

/* --- answers --------------------------------------------------------------------------- */

pid_t fence_group_pid(const struct fence_group *group)
{
	return __atomic_load_n(&group->shared->pid, __ATOMIC_ACQUIRE);
}

pid_t fence_group_monitor_pid(const struct fence_group *group)
{
	return group->monitor;
}

uint64_t fence_group_output_bytes(const struct fence_group *group)
{
	const struct fence_tail *tails = group->shared->tails;

	return __atomic_load_n(&tails[0].total_bytes, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&tails[1].total_bytes, __ATOMIC_ACQUIRE);
}

const struct fence_group_result *fence_group_result(const struct fence_group *group)
{
	return &group->shared->result;
}

/* The monitor may be adding to them at this very moment: what is asked twice could be more
 * the second time than there is room for. */
static struct fence_tail tail_now(const struct fence_tail *tail)
{
	return (struct fence_tail){
		.total_bytes = __atomic_load_n(&tail->total_bytes, __ATOMIC_ACQUIRE),
		.size_bytes = tail->size_bytes,
		.at = __atomic_load_n(&tail->at, __ATOMIC_RELAXED),
	};
}

static struct fence_head head_now(const struct fence_head *head)
{
	return (struct fence_head){
		.size_bytes = head->size_bytes,
		.kept_bytes = __atomic_load_n(&head->kept_bytes, __ATOMIC_ACQUIRE),
	};
}

int fence_group_output(const struct fence_group *group, int stream, struct fence_group_output *ret)
{
	const struct fence_tail tail = tail_now(&group->shared->tails[stream]);
	const struct fence_head head = head_now(&group->shared->heads[stream]);
	const uint8_t *memory = fence_group_head(group->shared, stream);
	const uint8_t *ring = fence_group_ring(group->shared, stream);
	struct fence_group_output kept = { 0 };

	kept.head_bytes = fence_head_before(&head, memory, &tail, &kept.omitted_bytes);
	kept.bytes = malloc(kept.head_bytes + fence_tail_kept(&tail) + 1);
	if (kept.bytes == NULL)
		return -ENOMEM;
	if (kept.head_bytes > 0)
		memcpy(kept.bytes, memory, kept.head_bytes);
	kept.tail_bytes =
		fence_tail_copy(&tail, ring, kept.omitted_bytes > 0, kept.bytes + kept.head_bytes);
	kept.omitted_bytes += fence_tail_kept(&tail) - kept.tail_bytes;
	*ret = kept;
	return 0;
}

int fence_group_tail(const struct fence_group *group, int stream, uint8_t **ret, size_t *ret_bytes)
{
	struct fence_group_output kept;
	int rc = fence_group_output(group, stream, &kept);

	if (rc < 0)
		return rc;
	memmove(kept.bytes, kept.bytes + kept.head_bytes, kept.tail_bytes);
	*ret = kept.bytes;
	*ret_bytes = kept.tail_bytes;
	return 0;
}

void fence_group_abandon(struct fence_group *group, struct fence_group *const *others,
			 size_t other_count)
{
	struct fence_exit how;

	if (group == NULL)
		return;
	fence_group_give_back(group->spare_fds);
	/* The monitor takes a closed socket for our death, and ends everything. */
	fence_close_fd(&group->control_fd);
	if (group->monitor > 0)
		(void)fence_reap_wait(group->monitor, &how, NULL);
	group->monitor = 0;
	if (!group->ended && !__atomic_load_n(&group->shared->ended, __ATOMIC_ACQUIRE))
		(void)monitor_lost(group, others, other_count, NULL);
	fence_group_free(group);
}

void fence_group_free(struct fence_group *group)
{
	struct fence_exit how;

	if (group == NULL)
		return;
	/* The monitor takes a closed socket for our death, and ends everything. */
	fence_group_give_back(group->spare_fds);
	if (group->control_fd >= 0)
		(void)close(group->control_fd);
	if (group->monitor > 0)
		(void)fence_reap_wait(group->monitor, &how, NULL);
	if (group->shared != NULL)
		(void)munmap(group->shared, group->shared_bytes);
	free(group);
}
