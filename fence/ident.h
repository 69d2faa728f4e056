/* Which process? A pid is only a number that the kernel gives out again; this is
 * what tells one process from every other. While a pidfd is held it is the
 * process. At rest (in a marker, in a record) a process is this struct, and to
 * act on it a pidfd is opened first, compared through itself, and then used: no
 * function here signals a number.
 *
 * `id` is the inode of the process's pidfd where pidfds live in pidfs (Linux 6.9):
 * unique for as long as the machine is up, 0 where it is not known. Where it is
 * known on both sides it alone decides: with pid reuse forced, 197 of 200 pairs of
 * processes shared pid and start tick, and none shared it. */
#ifndef FENCE_IDENT_H
#define FENCE_IDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fence/json.h"
#include "fence/jsonw.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FENCE_BOOT_ID_BYTES 37 /* a UUID and a NUL */

struct fence_ident {
	pid_t pid;			   /* in the pid namespace `pid_ns` */
	uint64_t start_ticks;		   /* proc_pid_stat(5), field 22; 0: not known */
	uint64_t id;			   /* 0: not known */
	char boot_id[FENCE_BOOT_ID_BYTES]; /* empty: not known */
	uint64_t pid_ns;		   /* inode of the namespace; 0: not known */
};

/* The kernel's id of this boot. */
int fence_boot_id(char ret[FENCE_BOOT_ID_BYTES]);

/* This process. -EXDEV: /proc belongs to another pid namespace than we do, so that
 * no number in it means what we would take it for. */
int fence_ident_self(struct fence_ident *ret);

/* This process as /proc shows it, when that is the /proc of the pid namespace `proc_ns`
 * (an inode), below which we were born: what our parent out there calls us. In our own
 * namespace the same as fence_ident_self. */
int fence_ident_self_shown(uint64_t proc_ns, struct fence_ident *ret);

/* The process of a pidfd that lives or is at least not reaped: its facts are read
 * and then the pidfd is asked whether they can have been another's. -ESRCH: reaped. */
int fence_ident_of_pidfd(int pidfd, struct fence_ident *ret);

/* Whoever has this pid now, with (unless NULL) the close-on-exec pidfd that was
 * opened before anything was read. -ESRCH: nobody. */
int fence_ident_of_pid(pid_t pid, struct fence_ident *ret, int *ret_pidfd);

/* The same process? Decided by boot, namespace, pid, and `id` where both know it,
 * else the start time. What both do not know is the same; what only one knows is
 * not, `id` excepted. */
bool fence_ident_same(const struct fence_ident *a, const struct fence_ident *b);

/* Opens the process that was meant: a close-on-exec pidfd. -ESRCH: it is gone (no
 * such pid, or somebody else's by now). -EXDEV: on another boot or in another pid
 * namespace, so nothing can be said from here. */
int fence_ident_open(const struct fence_ident *ident, int *ret_pidfd);

/* Opens the process group that this process leads, or led: a close-on-exec pidfd for
 * PIDFD_SIGNAL_PROCESS_GROUP. Where pidfds can be opened by their inode (Linux 6.17)
 * this works also after the leader was reaped, for as long as its group or its session
 * has a member, which keeps the number from being given out again. -ESRCH: neither
 * leader nor member is left, and who has that number is a stranger. -ENODATA: the
 * leader is gone, and here nobody can tell whether its group is. -EXDEV as above. */
int fence_ident_open_group(const struct fence_ident *leader, int *ret_pidfd);

/* 1: it runs; 0: it has ended, reaped or not; -EXDEV as above, or -errno. */
int fence_ident_alive(const struct fence_ident *ident);

/* Signals it through a pidfd that was compared first. -ESRCH, -EXDEV, -EPERM. */
int fence_ident_signal(const struct fence_ident *ident, int sig);

/* `"pid":1,"start":"2","id":"3","bootId":"…","pidNs":"4"`: members of an object
 * that the caller opened. What is not known is left out. */
void fence_ident_write(struct fence_jsonw *w, const struct fence_ident *ident);

/* Reads those members of `object`. Only pid must be there. -EINVAL: one of them is
 * not what it should be, whose name is then in `ret_member`. */
int fence_ident_parse(const struct fence_json *object, struct fence_ident *ret,
		      const char **ret_member);

#ifdef __cplusplus
}
#endif

#endif
