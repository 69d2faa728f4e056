/* One order, one operation a path, and nothing that contradicts itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guard/confine/plan_build.h"

/* By component: a folder comes before all that is in it, and nothing else comes
 * between ("/a", "/a/b", "/a-b"), so the ancestors of a path form a stack. */
static int compare_paths(const char *a, const char *b)
{
	for (;; a++, b++) {
		unsigned char x = (unsigned char)*a;
		unsigned char y = (unsigned char)*b;

		if (x == y && x != '\0')
			continue;
		if (x == y)
			return 0;
		if (x == '\0' || y == '\0')
			return x == '\0' ? -1 : 1;
		if (x == '/' || y == '/')
			return x == '/' ? -1 : 1;
		return x < y ? -1 : 1;
	}
}

/* /dev and /proc are always our own. */
static bool is_fixed(const struct guard_op *op)
{
	return op->kind == GUARD_OP_DEV || op->kind == GUARD_OP_PROC;
}

/* Of several for one path the one that decides comes first. */
static int compare_ops(const void *left, const void *right)
{
	const struct guard_op *a = left;
	const struct guard_op *b = right;
	int order = compare_paths(a->path, b->path);

	if (order != 0)
		return order;
	if (is_fixed(a) != is_fixed(b))
		return is_fixed(a) ? -1 : 1;
	if (a->named != b->named)
		return a->named ? -1 : 1;
	return a->kind > b->kind ? -1 : a->kind < b->kind;
}

static const char *const kind_words[] = {
	[GUARD_OP_PIN] = "pinned",
	[GUARD_OP_DEV] = "the small /dev",
	[GUARD_OP_PROC] = "the new /proc",
	[GUARD_OP_TMP] = "the private /tmp",
	[GUARD_OP_TMPFS] = "tmpfs",
	[GUARD_OP_OVERLAY] = "overlay",
	[GUARD_OP_RW] = "rw",
	[GUARD_OP_RO] = "read-only",
	[GUARD_OP_MASK] = "denied",
};

static int drop_doubles(struct guard_plan *plan, struct fence_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];
		struct guard_op *before = kept > 0 ? &plan->ops[kept - 1] : NULL;

		if (before == NULL || strcmp(before->path, op->path) != 0) {
			plan->ops[kept++] = *op;
			continue;
		}
		if (is_fixed(before) && op->named)
			rc = fence_fail_why(err, -EINVAL, "it is always made anew",
					    "%s cannot be named", op->path);
		else if (before->named && op->named && before->kind != op->kind)
			rc = fence_fail_why(err, -EINVAL, "two rules that contradict each other",
					    "%s is to be %s and %s", op->path, kind_words[op->kind],
					    kind_words[before->kind]);
		before->shut = before->shut || (op->shut && op->kind == before->kind);
		guard_plan_drop(plan, op);
	}
	plan->count = kept;
	return rc;
}

/* What lies below is hidden by it, unless it is put there by name. */
static bool hides(enum guard_op_kind kind)
{
	return kind == GUARD_OP_MASK || kind == GUARD_OP_PROC || kind == GUARD_OP_DEV ||
	       kind == GUARD_OP_TMP || kind == GUARD_OP_TMPFS;
}

/* What is shown on purpose, where a default only takes away. */
static bool shows(const struct guard_op *op)
{
	return op->kind == GUARD_OP_RW || op->kind == GUARD_OP_TMPFS ||
	       (op->kind == GUARD_OP_OVERLAY && !op->is_private) ||
	       (op->kind == GUARD_OP_RO && !op->shut);
}

static int judge_op(struct guard_plan *plan, struct guard_op *op, struct fence_err *err)
{
	const struct guard_op *above = op->parent < 0 ? NULL : &plan->ops[op->parent];

	if (above == NULL || above->kind == GUARD_OP_RO) {
		op->skip = op->kind == GUARD_OP_RO || op->kind == GUARD_OP_PIN;
		return 0;
	}
	if (!hides(above->kind))
		return 0;
	if (!shows(op)) {
		op->skip = true;
		return 0;
	}
	if (above->kind != GUARD_OP_MASK && above->kind != GUARD_OP_PROC)
		return 0;
	fence_fail_why(err, -EINVAL, "hidden by what is above it", "show %s below %s", op->path,
		       above->path);
	if (above->kind == GUARD_OP_MASK)
		(void)fence_hint(err, "name %s itself with --ro or --rw", above->path);
	return -EINVAL;
}

static int judge_links(const struct guard_plan *plan, const struct guard_op *op,
		       struct fence_err *err)
{
	if (!op->shut || op->skip || plan->policy->allow_hardlinks)
		return 0;
	if (!S_ISREG(op->st.st_mode) || op->st.st_nlink < 2)
		return 0;
	fence_fail_why(err, -EMLINK, "the file has another name (hard link), which stays open",
		       "%s %s", op->kind == GUARD_OP_MASK ? "deny" : "protect", op->path);
	(void)fence_hint(err, "remove the other name, or use --allow-hardlinks");
	return -EMLINK;
}

int guard_plan_settle(struct guard_plan *plan, struct fence_err *err)
{
	int top = -1;
	int rc;

	qsort(plan->ops, plan->count, sizeof(plan->ops[0]), compare_ops);
	rc = drop_doubles(plan, err);
	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		struct guard_op *op = &plan->ops[i];

		while (top >= 0 && !guard_path_within(op->path, plan->ops[top].path))
			top = plan->ops[top].parent;
		op->parent = top;
		rc = judge_op(plan, op, err);
		if (rc == 0)
			rc = judge_links(plan, op, err);
		/* Nothing is shown below a mask, also one that is needless itself. */
		if (!op->skip || op->kind == GUARD_OP_MASK)
			top = (int)i;
	}
	return rc;
}
