/* Makes the seccomp filters at build time: C text on standard output.
 *
 * A filter is a prologue of ours and then libseccomp's program for the table in
 * policy/calls.h. The prologue answers what libseccomp cannot say: x32 numbers and
 * numbers above the table are ENOSYS (libseccomp would kill), and an argument is
 * compared by its low 32 bits alone (the kernel cuts ioctl's command to 32 bits, so
 * TIOCSTI | 1<<32 is TIOCSTI). Of libseccomp's program, a balanced tree, the answers are
 * taken, into a shorter one. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/btrfs.h>
#include <linux/filter.h>
#include <linux/fscrypt.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/policy/calls.h"
#include "guard/policy/gen/program.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the low half of an argument lies elsewhere on this machine"
#endif

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define SKIPPED_NR 0xffffffffU /* what a tracer writes to have a call skipped */

/* Missing in older headers. */
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif
#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif
#define PROTO_DCCP  33
#define PROTO_SCTP  132
#define PROTO_SMC   256
#define PROTO_MPTCP 262
#define TYPE_DCCP   6
#define TYPE_PACKET 10
#define OPTION_ULP  31 /* TCP_ULP */
#define TYPE_MASK   0xf
#define KNOWN_OF_UNSHARE                                                                           \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |        \
	 CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)

#define ALLOW	      SECCOMP_RET_ALLOW
#define REFUSE(error) (SECCOMP_RET_ERRNO | ((error)&SECCOMP_RET_DATA))

/* What a filter is for. */
struct variant {
	const char *net;
	bool userns;  /* --allow-userns */
	bool nesting; /* --allow-nesting, with userns; not with strict */
	bool set_id;  /* --allow-set-id */
	bool ports;   /* --net ports: */
	bool listen;  /* with ports of the command's own in it */
	bool strict;  /* --strict */
};

/* --- the prologue's few instructions ---------------------------------------------- */

static void load(struct program *p, size_t offset)
{
	emit(p, BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0, 0);
}

static void load_arg(struct program *p, unsigned int number)
{
	load(p, offsetof(struct seccomp_data, args) + 8 * number);
}

static void answer_if(struct program *p, unsigned int test, unsigned int k, unsigned int action)
{
	emit(p, BPF_JMP | test | BPF_K, k, 0, 1);
	answer(p, action);
}

static void answer_if_equal(struct program *p, unsigned int k, unsigned int action)
{
	answer_if(p, BPF_JEQ, k, action);
}

/* One answer for several values, which take one line each. */
static void answer_if_one_of(struct program *p, const unsigned int *values, size_t count,
			     unsigned int action)
{
	for (size_t i = 0; i < count; i++)
		emit(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], (unsigned int)(count - 1 - i),
		     i == count - 1);
	answer(p, action);
}

/* `if (accumulator == k) { ... }`: what comes until end_if is jumped over else. */
static size_t begin_if_equal(struct program *p, unsigned int k)
{
	return emit(p, BPF_JMP | BPF_JEQ | BPF_K, k, 0, 0);
}

static void end_if(struct program *p, size_t begin)
{
	size_t skip = p->count - begin - 1;

	if (skip > 255)
		die("a block is too long");
	p->line[begin].jf = (unsigned char)skip;
}

/* --- calls whose arguments decide --------------------------------------------------- */

static void judge_ioctl(struct program *p, const struct variant *variant)
{
	static const unsigned int refused[] = {
		TIOCSTI,
		TIOCLINUX,
		/* Has the kernel load a line discipline's module, on any new pseudo-terminal. What
		 * else could type for others or take the console (TIOCCONS, KDSKBENT, KDSKBSENT)
		 * the kernel gives nobody without a capability that is not to be had. */
		TIOCSETD,
		/* A snapshot put into a writable folder shows what masks hide. */
		BTRFS_IOC_SNAP_CREATE,
		BTRFS_IOC_SNAP_CREATE_V2,
		/* Where users may remove subvolumes: with all that is protected in one, since no
		 * mount is in the way of that; and the second by a number, wherever it is. */
		BTRFS_IOC_SNAP_DESTROY,
		BTRFS_IOC_SNAP_DESTROY_V2,
		/* The keys that a user gave to a file system, through any descriptor of it: without
		 * them the files are locked, on the host as well. */
		FS_IOC_ADD_ENCRYPTION_KEY,
		FS_IOC_REMOVE_ENCRYPTION_KEY,
	};

	(void)variant;
	load_arg(p, 1);
	answer_if_one_of(p, refused, COUNT(refused), REFUSE(EPERM));
	answer(p, ALLOW);
}

static void judge_new_namespaces(struct program *p, const struct variant *variant)
{
	unsigned int refused = variant->nesting ? 0 : CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWCGROUP;

	if (!variant->userns)
		refused |= CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;
	load_arg(p, 0);
	answer_if(p, BPF_JSET, refused, REFUSE(EPERM));
	answer(p, ALLOW);
}

/* clone has its exit signal where unshare has CLONE_NEWTIME. Flags of later kernels may mean
 * namespaces, too, such as one without any mounts; a kernel that lacks them answers so. */
static void judge_unshare(struct program *p, const struct variant *variant)
{
	load_arg(p, 0);
	answer_if(p, BPF_JSET, ~(unsigned int)KNOWN_OF_UNSHARE, REFUSE(EINVAL));
	answer_if(p, BPF_JSET, CLONE_NEWTIME, REFUSE(EPERM));
	judge_new_namespaces(p, variant);
}

static void judge_personality(struct program *p, const struct variant *variant)
{
	static const unsigned int allowed[] = {
		PER_LINUX,	   PER_LINUX32, UNAME26, UNAME26 | PER_LINUX32,
		ADDR_NO_RANDOMIZE, 0xffffffff, /* only asks */
	};

	(void)variant;
	load_arg(p, 0);
	answer_if_one_of(p, allowed, COUNT(allowed), ALLOW);
	answer(p, REFUSE(EPERM));
}

static void judge_inet(struct program *p)
{
	static const unsigned int types[] = { SOCK_RAW, SOCK_SEQPACKET, TYPE_DCCP, TYPE_PACKET };
	static const unsigned int protocols[] = { PROTO_DCCP, PROTO_SCTP, PROTO_SMC, PROTO_MPTCP };

	load_arg(p, 1);
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	answer_if_one_of(p, types, COUNT(types), REFUSE(EPROTONOSUPPORT));
	load_arg(p, 2);
	answer_if_one_of(p, protocols, COUNT(protocols), REFUSE(EPROTONOSUPPORT));
	answer(p, ALLOW);
}

/* Landlock has rules for the ports of TCP alone: what has others, or none, is not to be
 * had beside it. */
static void judge_tcp(struct program *p)
{
	load_arg(p, 1);
	emit(p, BPF_ALU | BPF_AND | BPF_K, TYPE_MASK, 0, 0);
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 1, 0);
	answer(p, REFUSE(EPROTONOSUPPORT));
	load_arg(p, 2);
	answer_if_equal(p, IPPROTO_IP, ALLOW);
	answer_if_equal(p, IPPROTO_TCP, ALLOW);
	answer(p, REFUSE(EPROTONOSUPPORT));
}

static void judge_socket(struct program *p, const struct variant *variant)
{
	static const unsigned int inet[] = { AF_INET, AF_INET6 };
	size_t begin;

	load_arg(p, 0);
	answer_if_equal(p, AF_UNIX, ALLOW);
	for (size_t i = 0; i < 2; i++) {
		begin = begin_if_equal(p, inet[i]);
		if (variant->ports)
			judge_tcp(p);
		else
			judge_inet(p);
		end_if(p, begin);
	}
	begin = begin_if_equal(p, AF_NETLINK);
	load_arg(p, 2);
	answer_if_equal(p, NETLINK_ROUTE, ALLOW);
	answer(p, REFUSE(EPROTONOSUPPORT));
	end_if(p, begin);
	answer(p, REFUSE(EAFNOSUPPORT));
}

/* Makes two sockets of any family before it asks the family whether it can. */
static void judge_socketpair(struct program *p, const struct variant *variant)
{
	(void)variant;
	load_arg(p, 0);
	answer_if_equal(p, AF_UNIX, ALLOW);
	answer(p, REFUSE(EAFNOSUPPORT));
}

/* With MSG_FASTOPEN a send call is a connect call, which Landlock does not see. The
 * answer is the kernel's where it is switched off: callers connect then. */
static void judge_flags(struct program *p, unsigned int number)
{
	load_arg(p, number);
	answer_if(p, BPF_JSET, MSG_FASTOPEN, REFUSE(EOPNOTSUPP));
	answer(p, ALLOW);
}

static void judge_sendmsg(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_flags(p, 2);
}

static void judge_sendto(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_flags(p, 3);
}

/* A TCP socket that was never bound gets a port by listening, and Landlock has no rule
 * for that. Nobody here sees of which family it is. */
static void judge_listen(struct program *p, const struct variant *variant)
{
	answer(p, variant->listen ? ALLOW : REFUSE(EACCES));
}

/* An upper layer may make another socket of this one: of TCP_ULP's, SMC did, and Landlock
 * then sees no TCP. Its name is behind a pointer; the answer is that of a kernel that has
 * no such layer. */
static void judge_setsockopt(struct program *p, const struct variant *variant)
{
	size_t begin;

	(void)variant;
	load_arg(p, 1);
	begin = begin_if_equal(p, IPPROTO_TCP);
	load_arg(p, 2);
	answer_if_equal(p, OPTION_ULP, REFUSE(ENOENT));
	end_if(p, begin);
	answer(p, ALLOW);
}

/* --- modes of files ------------------------------------------------------------------ */

/* A set-id file in a writable folder is one on the host as well, where no mount is nosuid:
 * it gives whoever starts it what the command's user has, or its group. Set-group-ID is
 * refused without the right to execute, too, since an ACL gives that later and leaves the
 * bit; and on folders, where it does no harm, since a filter sees no folders. */
static void judge_mode(struct program *p, unsigned int number)
{
	load_arg(p, number);
	answer_if(p, BPF_JSET, S_ISUID | S_ISGID, REFUSE(EPERM));
	answer(p, ALLOW);
}

/* The mode is one only for a file that is made. */
static void judge_mode_if_made(struct program *p, unsigned int flags, unsigned int number)
{
	load_arg(p, flags);
	emit(p, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), 1, 0);
	answer(p, ALLOW);
	judge_mode(p, number);
}

static void judge_chmod(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_mode(p, 1);
}

static void judge_fchmodat(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_mode(p, 2);
}

static void judge_open(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_mode_if_made(p, 1, 2);
}

static void judge_openat(struct program *p, const struct variant *variant)
{
	(void)variant;
	judge_mode_if_made(p, 2, 3);
}

/* --- which they are ------------------------------------------------------------------ */

struct judged {
	const char *name;
	void (*judge)(struct program *p, const struct variant *variant);
};

static const struct judged judged[] = {
	{ "ioctl", judge_ioctl },	    { "clone", judge_new_namespaces },
	{ "unshare", judge_unshare },	    { "socket", judge_socket },
	{ "socketpair", judge_socketpair }, { "personality", judge_personality },
};

/* But with --allow-set-id. */
static const struct judged judged_modes[] = {
	{ "chmod", judge_chmod },	 { "fchmod", judge_chmod }, { "fchmodat", judge_fchmodat },
	{ "fchmodat2", judge_fchmodat }, { "open", judge_open },    { "openat", judge_openat },
	{ "creat", judge_chmod },	 { "mknod", judge_chmod },  { "mknodat", judge_fchmodat },
};

/* With --net ports: alone. */
static const struct judged judged_ports[] = {
	{ "listen", judge_listen },	    { "sendto", judge_sendto },
	{ "sendmsg", judge_sendmsg },	    { "sendmmsg", judge_sendto },
	{ "setsockopt", judge_setsockopt },
};

static int number_of(const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	for (size_t i = 0; i < COUNT(guard_new_calls); i++)
		if (strcmp(guard_new_calls[i].name, name) == 0)
			return guard_new_calls[i].number;
	if (nr == __NR_SCMP_ERROR) {
		(void)fprintf(stderr, "make_filters: %s: unknown system call\n", name);
		exit(1);
	}
	return nr;
}

#define SEARCHED_MAX 32

/* Those of one variant, by number. */
struct search {
	const struct judged *row[SEARCHED_MAX];
	size_t line[SEARCHED_MAX]; /* where its number is compared */
	size_t count;
};

/* `names` are calls.h's, for those who ask. */
static void add_judged(struct search *search, const struct judged *table, const char *const *names,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].name, names[i]) != 0)
			die("calls.h names other judged calls");
		/* Negative: a call that this architecture never had. */
		if (number_of(table[i].name) < 0)
			continue;
		if (search->count == SEARCHED_MAX)
			die("too many judged calls");
		search->row[search->count++] = &table[i];
	}
}

static int by_number(const void *a, const void *b)
{
	return number_of((*(const struct judged *const *)a)->name) -
	       number_of((*(const struct judged *const *)b)->name);
}

/* Where the comparison on `line` leads to when it is true, and when not. */
static void lead(struct program *p, size_t line, size_t if_true, size_t if_not)
{
	if (if_true - line > 256 || if_not - line > 256)
		die("a jump is too long");
	p->line[line].jt = (unsigned char)(if_true - line - 1);
	p->line[line].jf = (unsigned char)(if_not - line - 1);
}

/* A balanced tree: every line of the program costs each start some time. */
static void emit_search(struct program *p, struct search *search, size_t first, size_t count)
{
	size_t middle = first + count / 2;
	unsigned int number = (unsigned int)number_of(search->row[middle]->name);
	size_t line;

	if (count == 1) {
		search->line[first] = begin_if_equal(p, number);
		return;
	}
	line = emit(p, BPF_JMP | BPF_JGE | BPF_K, number, 0, 0);
	emit_search(p, search, first, middle - first);
	lead(p, line, p->count, line + 1);
	emit_search(p, search, middle, first + count - middle);
}

/* A judge always answers, and may have several calls; what is none of theirs leaves. */
static void emit_judges(struct program *p, const struct variant *variant, struct search *search)
{
	size_t leave = emit(p, BPF_JMP | BPF_JA, 0, 0, 0);

	for (size_t i = 0; i < search->count; i++) {
		void (*judge)(struct program *, const struct variant *) = search->row[i]->judge;
		size_t start = p->count;

		if (p->line[search->line[i]].jt != 0)
			continue; /* led there with an earlier one */
		for (size_t j = i; j < search->count; j++)
			if (search->row[j]->judge == judge)
				lead(p, search->line[j], start, leave);
		judge(p, variant);
	}
	p->line[leave].k = (unsigned int)(p->count - leave - 1);
}

static void emit_judged(struct program *p, const struct variant *variant)
{
	struct search search = { .count = 0 };

	add_judged(&search, judged, guard_judged_calls, COUNT(judged));
	if (!variant->set_id)
		add_judged(&search, judged_modes, guard_judged_mode_calls, COUNT(judged_modes));
	if (variant->ports)
		add_judged(&search, judged_ports, guard_judged_port_calls, COUNT(judged_ports));
	qsort(search.row, search.count, sizeof(const struct judged *), by_number);
	emit_search(p, &search, 0, search.count);
	emit_judges(p, variant, &search);
}

static void emit_prologue(struct program *p, const struct variant *variant)
{
	_Static_assert(COUNT(judged) == COUNT(guard_judged_calls), "all of them");
	_Static_assert(COUNT(judged_modes) == COUNT(guard_judged_mode_calls), "all of them");
	_Static_assert(COUNT(judged_ports) == COUNT(guard_judged_port_calls), "all of them");
	load(p, offsetof(struct seccomp_data, arch));
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 1, 0);
	answer(p, SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
	answer_if_equal(p, SKIPPED_NR, ALLOW);
	answer_if(p, BPF_JGT, GUARD_KNOWN_MAX, REFUSE(ENOSYS));
	emit_judged(p, variant);
}

/* --- the table, by libseccomp --------------------------------------------------------- */

static bool is_open(const struct variant *variant, enum guard_opener opener)
{
	return (opener == GUARD_BY_USERNS && variant->userns) ||
	       (opener == GUARD_BY_SET_ID && variant->set_id) ||
	       (opener == GUARD_BY_NESTING && variant->nesting);
}

static void add_rule(scmp_filter_ctx ctx, const char *name, unsigned int action)
{
	int nr = number_of(name);

	/* Negative: a call that this architecture never had. */
	if (nr >= 0 && seccomp_rule_add(ctx, action, nr, 0) < 0)
		die(name);
}

/* Of a filter whose other calls all pass. */
static void add_refused(scmp_filter_ctx ctx, const struct variant *variant)
{
	for (size_t i = 0; i < COUNT(guard_calls); i++)
		if (!is_open(variant, guard_calls[i].opened_by))
			add_rule(ctx, guard_calls[i].name,
				 SCMP_ACT_ERRNO((unsigned int)guard_calls[i].error));
}

/* libseccomp takes no rule that says what is said of all. */
static void add_strict_refusal(scmp_filter_ctx ctx, const struct guard_call *call)
{
	if (call->error != ENOSYS)
		add_rule(ctx, call->name, SCMP_ACT_ERRNO((unsigned int)call->error));
}

/* Of one whose other calls are all ENOSYS. */
static void add_allowed(scmp_filter_ctx ctx, const struct variant *variant)
{
	for (size_t i = 0; i < COUNT(guard_strict_calls); i++)
		add_rule(ctx, guard_strict_calls[i], SCMP_ACT_ALLOW);
	for (size_t i = 0; i < COUNT(guard_strict_refused); i++)
		add_strict_refusal(ctx, &guard_strict_refused[i]);
	for (size_t i = 0; i < COUNT(guard_calls); i++) {
		if (is_open(variant, guard_calls[i].opened_by))
			add_rule(ctx, guard_calls[i].name, SCMP_ACT_ALLOW);
		else
			add_strict_refusal(ctx, &guard_calls[i]);
	}
}

static void append_table(struct program *p, const struct variant *variant)
{
	scmp_filter_ctx ctx =
		seccomp_init(variant->strict ? SCMP_ACT_ERRNO(ENOSYS) : SCMP_ACT_ALLOW);
	int fd = memfd_create("filter", MFD_CLOEXEC);
	ssize_t got;

	if (ctx == NULL || fd < 0)
		die("no memory");
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) < 0 ||
	    seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
		die("libseccomp is older than 2.5");
	if (variant->strict)
		add_allowed(ctx, variant);
	else
		add_refused(ctx, variant);
	if (seccomp_export_bpf(ctx, fd) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		die("export failed");
	got = read(fd, p->line + p->count, sizeof(p->line) - p->count * sizeof(p->line[0]));
	if (got <= 0 || (size_t)got % sizeof(p->line[0]) != 0)
		die("the exported program does not fit");
	p->count += (size_t)got / sizeof(p->line[0]);
	(void)close(fd);
	seccomp_release(ctx);
}

/* Of libseccomp's program the answers alone are taken. The number is still loaded. */
static void emit_table(struct program *p, const struct variant *variant)
{
	static struct program whole;

	whole.count = 0;
	append_table(&whole, variant);
	emit_shorter(p, &whole);
}

static void print_filter(const struct variant *variant)
{
	static struct program p;

	p.count = 0;
	emit_prologue(&p, variant);
	emit_table(&p, variant);
	printf("static const struct sock_filter filter_%s%s%s%s[] = {\n", variant->net,
	       variant->strict ? "_strict" : "", variant->set_id ? "_set_id" : "",
	       variant->nesting	 ? "_nesting"
	       : variant->userns ? "_userns"
				 : "");
	for (size_t i = 0; i < p.count; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", p.line[i].code, p.line[i].jt,
		       p.line[i].jf, p.line[i].k);
	printf("};\n");
}

int main(void)
{
	static const struct variant nets[] = {
		{ .net = "default" },
		{ .net = "ports", .ports = true },
		{ .net = "bind", .ports = true, .listen = true },
	};

	printf("/* Made by guard/policy/gen/make_filters.c from guard/policy/calls.h. */\n");
	for (size_t i = 0; i < 8 * COUNT(nets); i++) {
		struct variant variant = nets[i / 8];

		variant.strict = i & 4;
		variant.set_id = i & 2;
		variant.userns = i & 1;
		print_filter(&variant);
	}
	for (size_t i = 0; i < 2 * COUNT(nets); i++) {
		struct variant variant = nets[i / 2];

		variant.set_id = i & 1;
		variant.userns = variant.nesting = true;
		print_filter(&variant);
	}
	return ferror(stdout) || fflush(stdout) != 0;
}
