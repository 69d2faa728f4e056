/* The monitor's time-outs: wall, idle and processor time, and what stands still while the
 * command is stopped. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "fence/clock.h"
#include "fence/group_monitor.h"

#define CPU_LOOK_MS 10 /* the grain of the kernel's account in /proc */

/* Of the command's life: none of them counts while it is being ended. */
void fence_monitor_clear_limits(struct fence_monitor *m)
{
	fence_monitor_clear_timer(m, TIMER_LIMIT);
	fence_monitor_clear_timer(m, TIMER_IDLE);
	fence_monitor_clear_timer(m, TIMER_CPU);
	if (m->boot_fd >= 0)
		fence_loop_remove(&m->loop, &m->boot_watch);
}

static int limit_reached(struct fence_monitor *m, enum fence_cause cause, enum fence_limit limit)
{
	bool stopped = m->facts->stopped;

	fence_monitor_reap_dead(m);
	if (!m->leader_gone || m->phase == WAITING)
		fence_monitor_stop(m, cause, SIGTERM);
	if (!stopped && m->facts->stopped)
		m->result->limit = limit;
	return fence_monitor_advance(m);
}

int fence_monitor_timeout_due(void *arg)
{
	return limit_reached(arg, FENCE_CAUSE_TIMEOUT, FENCE_LIMIT_WALL);
}

static int boot_timeout_due(void *arg, uint32_t events)
{
	struct fence_monitor *m = arg;

	(void)events;
	fence_loop_remove(&m->loop, &m->boot_watch);
	return fence_monitor_timeout_due(m);
}

/* What all of it has used: who was reaped, and who runs. */
static int64_t cpu_used_ms(struct fence_monitor *m)
{
	int64_t used_ms = (m->shared->user_us + m->shared->system_us) / 1000;
	long ticks_a_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks = 0;
	struct fence_proc_stat stat;

	if (fence_tree_list(&m->tree) < 0)
		m->tree.count = 0;
	for (size_t i = 0; i < m->tree.count; i++)
		if (fence_proc_stat(m->tree.nodes[i].pid, &stat) == 0)
			ticks += stat.cpu_ticks;
	return used_ms + (int64_t)(ticks * 1000 / (uint64_t)ticks_a_second);
}

/* The limit cannot be reached sooner than when every processor works at nothing else: so
 * much is slept, and then it is looked again. */
int fence_monitor_cpu_due(void *arg)
{
	struct fence_monitor *m = arg;
	int64_t left_ms;
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	fence_monitor_reap_dead(m);
	left_ms = m->plan->cpu_timeout_ms - cpu_used_ms(m);
	if (left_ms <= 0)
		return limit_reached(m, FENCE_CAUSE_TIMEOUT, FENCE_LIMIT_CPU);
	left_ms /= processors > 0 ? processors : 1;
	fence_monitor_set_timer(m, TIMER_CPU, left_ms > CPU_LOOK_MS ? left_ms : CPU_LOOK_MS);
	return fence_monitor_advance(m);
}

int fence_monitor_idle_due(void *arg)
{
	struct fence_monitor *m = arg;

	/* The command may be silent because whoever reads its output is slow. */
	if (fence_output_is_held(&m->output)) {
		fence_monitor_set_timer(m, TIMER_IDLE, m->plan->idle_timeout_ms);
		return 0;
	}
	fence_monitor_tell(m, (struct fence_group_event){ .news = FENCE_GROUP_IDLE });
	return limit_reached(m, FENCE_CAUSE_IDLE_TIMEOUT, FENCE_LIMIT_IDLE);
}

/* 0: it stands still. */
static void set_boot_clock(struct fence_monitor *m, int64_t limit_ms)
{
	const struct itimerspec at = { .it_value = { .tv_sec = limit_ms / 1000,
						     .tv_nsec = limit_ms % 1000 * 1000000 } };

	(void)timerfd_settime(m->boot_fd, 0, &at, NULL);
}

static int64_t boot_clock_left_ms(const struct fence_monitor *m)
{
	struct itimerspec left = { 0 };

	(void)timerfd_gettime(m->boot_fd, &left);
	return left.it_value.tv_sec * 1000 + left.it_value.tv_nsec / 1000000;
}

int fence_monitor_watch_boot_clock(struct fence_monitor *m)
{
	m->boot_watch = (struct fence_watch){ .fd = -1, .ready = boot_timeout_due, .arg = m };
	m->boot_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (m->boot_fd < 0)
		return -errno;
	set_boot_clock(m, m->plan->timeout_ms);
	return fence_loop_add(&m->loop, &m->boot_watch, m->boot_fd, EPOLLIN);
}

void fence_monitor_pause_timers(struct fence_monitor *m)
{
	if (m->boot_fd >= 0) {
		m->boot_left_ms = boot_clock_left_ms(m) + 1;
		set_boot_clock(m, 0);
	}
	for (int i = TIMER_LIMIT; i <= TIMER_IDLE; i++) {
		int64_t at_ms = m->timers[i].at_ms;
		int64_t left_ms = at_ms == FENCE_NEVER ? -1 : at_ms - fence_now_ms();

		/* One that is due and has not had its turn is due when it goes on. */
		m->paused_left_ms[i] = at_ms != FENCE_NEVER && left_ms < 0 ? 0 : left_ms;
		m->timers[i].at_ms = FENCE_NEVER;
	}
	m->paused = true;
}

void fence_monitor_resume_timers(struct fence_monitor *m)
{
	for (int i = TIMER_LIMIT; i <= TIMER_IDLE; i++)
		if (m->paused_left_ms[i] >= 0)
			m->timers[i].at_ms = fence_now_ms() + m->paused_left_ms[i];
	if (m->boot_fd >= 0)
		set_boot_clock(m, m->boot_left_ms);
	m->paused = false;
}
