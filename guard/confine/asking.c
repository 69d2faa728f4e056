#include "guard/confine/asking.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "guard/confine/own.h"

/* What is watched is asked about there. */
#define PROLOGUE GUARD_FILTER_PROLOGUE

static bool begins_as_ours(const struct sock_fprog *filter)
{
	const struct sock_filter *line = filter->filter;

	return filter->len > PROLOGUE && line[0].code == (BPF_LD | BPF_W | BPF_ABS) &&
	       line[0].k == offsetof(struct seccomp_data, arch) &&
	       line[PROLOGUE - 1].code == (BPF_LD | BPF_W | BPF_ABS) &&
	       line[PROLOGUE - 1].k == offsetof(struct seccomp_data, nr);
}

static struct sock_filter as_question(struct sock_filter line)
{
	if (line.code == (BPF_RET | BPF_K) &&
	    (line.k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		line.k = SECCOMP_RET_USER_NOTIF;
	return line;
}

/* What asks is open to whoever listens: of several filters that ask, the newest one's
 * listener decides, and may let the call go on past all of them. While ours is there the
 * kernel refuses another listener; this is for when it is gone, and the kernel's answer. */
static const struct sock_filter no_other_listener[] = {
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 4),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, SECCOMP_FILTER_FLAG_NEW_LISTENER, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EBUSY),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
#define LISTENER_LINES (sizeof(no_other_listener) / sizeof(no_other_listener[0]))

int guard_asking_build(const struct sock_fprog *enforcing, const int *watched, size_t count,
		       struct sock_filter *ret)
{
	size_t at = 0;

	if (!begins_as_ours(enforcing) ||
	    enforcing->len + LISTENER_LINES + 2 * count > GUARD_ASKING_MAX)
		return -EINVAL;
	for (; at < PROLOGUE; at++)
		ret[at] = as_question(enforcing->filter[at]);
	memcpy(ret + at, no_other_listener, sizeof(no_other_listener));
	at += LISTENER_LINES;
	for (size_t i = 0; i < count; i++) {
		ret[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned int)watched[i], 0, 1);
		ret[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	for (size_t i = PROLOGUE; i < enforcing->len; i++)
		ret[at++] = as_question(enforcing->filter[i]);
	return (int)at;
}

static bool is_true(const struct sock_filter *line, uint32_t value)
{
	switch (BPF_OP(line->code)) {
	case BPF_JEQ:
		return value == line->k;
	case BPF_JGT:
		return value > line->k;
	case BPF_JGE:
		return value >= line->k;
	default:
		return (value & line->k) != 0; /* BPF_JSET */
	}
}

unsigned int guard_asking_answer(const struct sock_fprog *filter, const struct seccomp_data *data)
{
	uint32_t value = 0;

	/* Jumps lead forward only, so this ends. */
	for (size_t at = 0; at < filter->len; at++) {
		const struct sock_filter *line = &filter->filter[at];

		switch (line->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (line->k > sizeof(*data) - sizeof(value))
				return SECCOMP_RET_KILL_PROCESS;
			memcpy(&value, (const char *)data + line->k, sizeof(value));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			value &= line->k;
			break;
		case BPF_JMP | BPF_JA:
			at += line->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			at += is_true(line, value) ? line->jt : line->jf;
			break;
		case BPF_RET | BPF_K:
			return line->k;
		default:
			return SECCOMP_RET_KILL_PROCESS;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

int guard_asking_errno(const struct sock_fprog *filter, int number)
{
	/* Ours compares the architecture with the native one first. */
	struct seccomp_data data = { .nr = number, .arch = filter->filter[1].k };
	unsigned int answer = guard_asking_answer(filter, &data);

	if (answer == SECCOMP_RET_ALLOW)
		return 0;
	return (answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO
		       ? (int)(answer & SECCOMP_RET_DATA)
		       : EPERM;
}
