/* A policy file as fence-policy hands it to fence-guard: read, checked and reduced to
 * one profile, so that what confines needs no reader of YAML.
 *
 * A stream of fields, each ended by NUL. First the form's name and the version of the
 * program; then records: kind, line and column of the file (0: none), and as many
 * values as the kind has. The record `end` is the last thing: what was cut off is seen. */
#ifndef GUARD_POLICY_WIRE_H
#define GUARD_POLICY_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/policy/policy.h"

#define GUARD_WIRE_FORM	     "fence-policy-compiled/1"
#define GUARD_WIRE_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define GUARD_WIRE_VALUES    3

enum guard_wire_kind {
	GUARD_WIRE_FAULT,    /* "file:line:column", what, how many there are in all */
	GUARD_WIRE_FILE,     /* as it was named, absolute; its name is the way there */
	GUARD_WIRE_PROFILE,  /* name, built-in profile that it starts from */
	GUARD_WIRE_RULE,     /* access, path, reason */
	GUARD_WIRE_ROOT,     /* path */
	GUARD_WIRE_BIND,     /* access, "SOURCE:DEST" */
	GUARD_WIRE_NET,	     /* mode */
	GUARD_WIRE_PORTS,    /* as --net ports: has them */
	GUARD_WIRE_KEEP,     /* variable; the first one replaces the built-in list */
	GUARD_WIRE_SET,	     /* variable=value */
	GUARD_WIRE_UNSET,    /* variable */
	GUARD_WIRE_LIMIT,    /* name, number */
	GUARD_WIRE_SECCOMP,  /* filter */
	GUARD_WIRE_CALL,     /* system call, the errno's number or 0 */
	GUARD_WIRE_ALLOW,    /* "userns", "hardlinks", "set-id", "nesting"... */
	GUARD_WIRE_CAP,	     /* name */
	GUARD_WIRE_NET_RULE, /* "allow", "deny" or "expose", rule */
	GUARD_WIRE_COMMAND,  /* verdict, reason */
	GUARD_WIRE_WORD,     /* of the last command's argv */
	GUARD_WIRE_OPAQUE,   /* when, verdict */
	GUARD_WIRE_END,
};

/* --- writing -------------------------------------------------------------------- */

struct guard_wire {
	char *bytes;
	size_t count, room;
	int rc; /* the first failure, kept */
};

/* The form's name; call it first. */
void guard_wire_begin(struct guard_wire *wire);
/* Values after those that the kind has are ignored; NULL is an empty one. */
void guard_wire_add(struct guard_wire *wire, enum guard_wire_kind kind, struct guard_place place,
		    const char *first, const char *second, const char *third);
/* All of `more`, which was not begun. */
void guard_wire_append(struct guard_wire *wire, const struct guard_wire *more);
void guard_wire_free(struct guard_wire *wire);

/* --- reading -------------------------------------------------------------------- */

struct guard_wire_record {
	enum guard_wire_kind kind;
	struct guard_place place;
	const char *value[GUARD_WIRE_VALUES]; /* into the bytes; never NULL */
};

struct guard_wire_reader {
	const char *at, *end;
};

/* -EPROTO: not this form, or of another version. */
int guard_wire_open(struct guard_wire_reader *reader, const char *bytes, size_t count);
/* 1: a record; 0: `end`, and nothing after it; -EPROTO: neither. */
int guard_wire_next(struct guard_wire_reader *reader, struct guard_wire_record *ret);

#endif
