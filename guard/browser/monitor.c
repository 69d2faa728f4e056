#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/loop.h"
#include "fence/own.h"
#include "fence/sys.h"
#include "guard/browser/ending.h"
#include "guard/browser/monitor_int.h"

#define GRACE_MS       300  /* for the browser's own children, after it */
#define FLUSH_MS       200  /* for a client that does not read, at the end */
#define LAST_RECORD_MS 3000 /* for the keeper to take the last record */

enum { BROWSER_ENDED = 1 }; /* the loop's answer */

struct monitor {
	struct launch *launch;
	const struct monitor_fds *fds;
	struct fence_loop loop;
	struct fence_watch browser, exec, from, to, keeper;
	struct fence_timer look;
	bool has_executed, has_proof;
	bool owes_record; /* the keeper was too busy to take it */
	enum proof_state told_state;
	struct proof proof;
	struct tee tee;
	char record[EVIDENCE_MAX_BYTES];
};

/* --- evidence ---------------------------------------------------------------------- */

static int64_t since_start(const struct monitor *m, int64_t at_ms)
{
	return at_ms == 0 ? -1 : at_ms - m->launch->started_ms;
}

/* What the proof alone says, less if the browser's own command line was not seen to
 * be clean. */
static enum proof_state state_of(const struct monitor *m)
{
	const struct evidence *evidence = &m->launch->evidence;
	enum proof_state state = m->has_proof ? proof_state(&m->proof) : PROOF_PENDING;

	if (evidence->command_line == 0)
		return PROOF_WEAKENED;
	return state == PROOF_SANDBOXED && evidence->command_line < 0 ? PROOF_UNPROVEN : state;
}

static void fill_evidence(struct monitor *m)
{
	struct evidence *evidence = &m->launch->evidence;

	evidence->state = state_of(m);
	if (evidence->reason <= REASON_WEAKENED)
		evidence->reason = evidence_reason(evidence->state);
	evidence->proof = m->has_proof ? &m->proof : NULL;
	evidence->first_renderer_ms =
		m->has_proof ? since_start(m, m->proof.first_renderer_at_ms) : -1;
	evidence->proven_ms = m->has_proof ? since_start(m, m->proof.first_proven_at_ms) : -1;
	evidence->total_ms = since_start(m, fence_now_ms());
	evidence->stderr_bytes = m->tee.read_bytes;
	evidence->stderr_dropped_bytes = m->tee.dropped_bytes;
}

/* A keeper that is busy, or stopped, must not keep us from looking: what it does not
 * take at once it gets at a later look, and the last one with patience. */
static void send_to_keeper(struct monitor *m, size_t length)
{
	struct pollfd ready = { .fd = m->fds->link_fd, .events = POLLOUT };
	ssize_t sent;

	if (m->launch->evidence.is_final)
		(void)poll(&ready, 1, LAST_RECORD_MS);
	sent = send(m->fds->link_fd, m->record, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	m->owes_record = sent < 0 && errno == EAGAIN;
}

/* Sends the record to the keeper. The descriptor gets a line only when the state is
 * new, and the last one. */
static void send_record(struct monitor *m)
{
	const struct evidence *evidence = &m->launch->evidence;
	struct fence_jsonw w;
	bool to_fd;

	fill_evidence(m);
	to_fd = evidence->is_final || evidence->state != m->told_state;
	m->record[0] = to_fd ? '!' : '.';
	fence_jsonw_init(&w, m->record + 1, sizeof(m->record) - 1);
	evidence_write(evidence, &w);
	if (w.overflow)
		return;
	w.buf[w.length_bytes++] = '\n';
	send_to_keeper(m, w.length_bytes + 1);
	if (!m->owes_record)
		m->told_state = evidence->state;
}

/* --- proving ----------------------------------------------------------------------- */

static void end_browser(struct monitor *m)
{
	m->launch->evidence.has_ended_browser = true;
	(void)fence_pidfd_signal(m->fds->browser_pidfd, SIGKILL, 0);
}

static int look(void *arg)
{
	struct monitor *m = arg;
	int64_t now_ms = fence_now_ms();
	int rc = proof_look(&m->proof, now_ms);

	if (m->proof.has_browser_layers)
		proof_command_line(&m->proof, rc == 1, &m->launch->evidence.command_line);
	if (state_of(m) == PROOF_WEAKENED && !m->launch->evidence.has_ended_browser) {
		end_browser(m);
		send_record(m);
	} else if (m->owes_record || (rc == 1 && !proof_has_pending(&m->proof))) {
		send_record(m);
	}
	m->look.at_ms = rc == -ESRCH ? FENCE_NEVER : proof_next_ms(&m->proof, now_ms);
	return 0;
}

static enum reason exec_reason(int code)
{
	switch (code) {
	case ENOENT:
		return REASON_EXECUTABLE_MISSING;
	case ENOEXEC:
	case ELIBBAD:
		return REASON_EXEC_FORMAT;
	default:
		return REASON_EXECUTABLE_DENIED;
	}
}

/* The browser's side of the exec pipe: it was closed by execve, or execve failed and
 * the process says so and ends. */
static int exec_said(void *arg, uint32_t events)
{
	struct monitor *m = arg;
	int code = 0;
	int rc;

	(void)events;
	rc = fence_read_full(m->fds->exec_fd, &code, sizeof(code));
	fence_loop_remove(&m->loop, &m->exec);
	if (rc == 0) {
		m->launch->evidence.reason = exec_reason(code);
		return 0;
	}
	m->has_executed = true;
	m->has_proof = proof_open(&m->proof, m->launch->evidence.browser_pid, 0) == 0;
	if (m->has_proof)
		m->look.at_ms = fence_now_ms();
	return 0;
}

/* --- events ------------------------------------------------------------------------ */

static int browser_ended(void *arg, uint32_t events)
{
	(void)arg;
	(void)events;
	return BROWSER_ENDED;
}

static int watch_client(struct monitor *m)
{
	bool wants = m->tee.length > 0 && m->tee.to.can_wait;

	if (wants && m->to.fd < 0)
		return fence_loop_add(&m->loop, &m->to, m->tee.to.fd, EPOLLOUT);
	if (!wants)
		fence_loop_remove(&m->loop, &m->to);
	return 0;
}

static int stderr_came(void *arg, uint32_t events)
{
	struct monitor *m = arg;
	int got = tee_step(&m->tee);

	(void)events;
	if (got == 0 || (got < 0 && got != -EAGAIN))
		fence_loop_remove(&m->loop, &m->from);
	return watch_client(m);
}

static int client_reads(void *arg, uint32_t events)
{
	struct monitor *m = arg;

	(void)events;
	tee_flush(&m->tee);
	return watch_client(m);
}

/* Nothing can be written any more, but everything else still must be done. */
static int keeper_gone(void *arg, uint32_t events)
{
	struct monitor *m = arg;

	(void)events;
	fence_loop_remove(&m->loop, &m->keeper);
	return 0;
}

static int add_watch(struct monitor *m, struct fence_watch *watch, int fd, uint32_t events,
		     int (*ready)(void *, uint32_t))
{
	watch->ready = ready;
	watch->arg = m;
	return fence_loop_add(&m->loop, watch, fd, events);
}

static int set_up(struct monitor *m)
{
	int rc = fence_loop_open(&m->loop);

	m->to = (struct fence_watch){ .fd = -1, .ready = client_reads, .arg = m };
	m->look.due = look;
	m->look.arg = m;
	if (rc == 0)
		fence_loop_timer(&m->loop, &m->look);
	if (rc == 0)
		rc = add_watch(m, &m->browser, m->fds->browser_pidfd, EPOLLIN, browser_ended);
	if (rc == 0)
		rc = add_watch(m, &m->exec, m->fds->exec_fd, EPOLLIN, exec_said);
	if (rc == 0)
		rc = add_watch(m, &m->from, m->fds->stderr_fd, EPOLLIN, stderr_came);
	if (rc == 0)
		rc = add_watch(m, &m->keeper, m->fds->link_fd, 0, keeper_gone);
	return rc;
}

/* --- the end ------------------------------------------------------------------------ */

/* Everything that the browser wrote is in the pipe now. Those of its children that
 * outlived it may write on for ever, so only what is there is taken. */
static void drain(struct monitor *m)
{
	int64_t stop_at_ms = fence_now_ms() + FLUSH_MS;

	while (fence_now_ms() < stop_at_ms && tee_step(&m->tee) > 0)
		;
	while (m->tee.length > 0 && !m->tee.is_closed && m->tee.to.can_wait) {
		struct pollfd ready = { .fd = m->tee.to.fd, .events = POLLOUT };
		int64_t left_ms = stop_at_ms - fence_now_ms();

		if (left_ms <= 0 || poll(&ready, 1, (int)left_ms) <= 0)
			break;
		tee_flush(&m->tee);
	}
	m->tee.dropped_bytes += m->tee.length;
	m->tee.length = 0;
}

static size_t end_children(struct monitor *m)
{
	struct ending ending = { .count = 0 };

	if (!m->has_proof)
		return 0;
	for (size_t i = 0; i < m->proof.places; i++) {
		const struct proof_process *it = &m->proof.processes[i];

		if (it->pid != 0)
			ending_add(&ending, m->proof.proc_fd, it->pid, it->start_ticks);
	}
	ending_add_by_root(&ending, m->proof.proc_fd, m->launch->root);
	return ending_finish(&ending, GRACE_MS);
}

static void finish(struct monitor *m)
{
	struct evidence *evidence = &m->launch->evidence;
	size_t survivors;
	int rc;

	drain(m);
	survivors = end_children(m);
	if (m->has_proof)
		proof_finish(&m->proof);
	rc = folder_remove(m->launch->root);
	evidence->cleanup =
		survivors > 0 || rc < 0 ? EVIDENCE_CLEANUP_FAILED : EVIDENCE_CLEANUP_DONE;
	evidence->is_final = true;
	send_record(m);
}

_Noreturn void monitor_run(struct launch *launch, const struct monitor_fds *fds)
{
	const int mine[] = { fds->browser_pidfd, fds->stderr_fd, fds->exec_fd,
			     fds->ready_fd,	 fds->link_fd,	 fds->client.fd };
	struct monitor *m = calloc(1, sizeof(*m));

	if (m == NULL || monitor_keep_only(mine, sizeof(mine) / sizeof(mine[0])) < 0)
		_exit(1);
	m->launch = launch;
	m->fds = fds;
	tee_init(&m->tee, fds->stderr_fd, &fds->client);
	if (identity_become(&launch->identity) < 0 || set_up(m) < 0)
		_exit(1);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (fence_write_full(fds->ready_fd, "r", 1) < 0)
		_exit(1);
	(void)close(fds->ready_fd);
	if (fence_loop_run(&m->loop) != BROWSER_ENDED)
		_exit(1);
	finish(m);
	_exit(0);
}
