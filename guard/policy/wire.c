#include "guard/policy/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fence/clock.h"

static const struct {
	const char *name;
	size_t values;
} kinds[] = {
	[GUARD_WIRE_FAULT] = { "fault", 3 },	   [GUARD_WIRE_FILE] = { "file", 1 },
	[GUARD_WIRE_PROFILE] = { "profile", 2 },   [GUARD_WIRE_RULE] = { "rule", 3 },
	[GUARD_WIRE_ROOT] = { "root", 1 },	   [GUARD_WIRE_BIND] = { "bind", 2 },
	[GUARD_WIRE_NET] = { "net", 1 },	   [GUARD_WIRE_PORTS] = { "ports", 1 },
	[GUARD_WIRE_KEEP] = { "keep", 1 },	   [GUARD_WIRE_SET] = { "set", 1 },
	[GUARD_WIRE_UNSET] = { "unset", 1 },	   [GUARD_WIRE_LIMIT] = { "limit", 2 },
	[GUARD_WIRE_CALL] = { "call", 2 },	   [GUARD_WIRE_SECCOMP] = { "seccomp", 1 },
	[GUARD_WIRE_ALLOW] = { "allow", 1 },	   [GUARD_WIRE_CAP] = { "cap", 1 },
	[GUARD_WIRE_NET_RULE] = { "net-rule", 2 }, [GUARD_WIRE_COMMAND] = { "command", 2 },
	[GUARD_WIRE_WORD] = { "word", 1 },	   [GUARD_WIRE_OPAQUE] = { "opaque", 2 },
	[GUARD_WIRE_END] = { "end", 0 },
};

/* --- writing -------------------------------------------------------------------- */

static void add_bytes(struct guard_wire *wire, const char *bytes, size_t count)
{
	if (wire->rc == 0 && count > GUARD_WIRE_MAX_BYTES - wire->count)
		wire->rc = -EFBIG;
	if (wire->rc == 0 && wire->room - wire->count < count) {
		size_t room = 2 * (wire->count + count) + 4096;
		char *more = realloc(wire->bytes, room);

		if (more == NULL)
			wire->rc = -ENOMEM;
		else
			wire->bytes = more, wire->room = room;
	}
	if (wire->rc < 0 || count == 0)
		return;
	memcpy(wire->bytes + wire->count, bytes, count);
	wire->count += count;
}

static void add_field(struct guard_wire *wire, const char *text)
{
	add_bytes(wire, text, strlen(text) + 1);
}

static void add_number(struct guard_wire *wire, unsigned int number)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", number);
	add_field(wire, text);
}

void guard_wire_begin(struct guard_wire *wire)
{
	add_field(wire, GUARD_WIRE_FORM);
	add_field(wire, FENCE_VERSION);
}

void guard_wire_add(struct guard_wire *wire, enum guard_wire_kind kind, struct guard_place place,
		    const char *first, const char *second, const char *third)
{
	const char *const values[GUARD_WIRE_VALUES] = { first, second, third };

	add_field(wire, kinds[kind].name);
	add_number(wire, place.line);
	add_number(wire, place.column);
	/* No kind has more than GUARD_WIRE_VALUES; clang does not look into the table. */
	for (size_t i = 0; i < kinds[kind].values; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
		add_field(wire, values[i] == NULL ? "" : values[i]);
}

void guard_wire_append(struct guard_wire *wire, const struct guard_wire *more)
{
	if (wire->rc == 0)
		wire->rc = more->rc;
	add_bytes(wire, more->bytes, more->count);
}

void guard_wire_free(struct guard_wire *wire)
{
	free(wire->bytes);
	*wire = (struct guard_wire){ 0 };
}

/* --- reading -------------------------------------------------------------------- */

static const char *take_field(struct guard_wire_reader *reader)
{
	const char *field = reader->at;
	const char *nul = memchr(field, '\0', (size_t)(reader->end - field));

	if (nul == NULL)
		return NULL;
	reader->at = nul + 1;
	return field;
}

static bool take_number(struct guard_wire_reader *reader, unsigned int *ret)
{
	const char *field = take_field(reader);
	int64_t number;

	if (field == NULL || fence_parse_number(field, 0, INT32_MAX, &number) < 0)
		return false;
	*ret = (unsigned int)number;
	return true;
}

static bool takes(struct guard_wire_reader *reader, const char *wanted)
{
	const char *field = take_field(reader);

	return field != NULL && strcmp(field, wanted) == 0;
}

int guard_wire_open(struct guard_wire_reader *reader, const char *bytes, size_t count)
{
	*reader = (struct guard_wire_reader){ .at = bytes, .end = bytes + count };
	if (count == 0 || !takes(reader, GUARD_WIRE_FORM) || !takes(reader, FENCE_VERSION))
		return -EPROTO;
	return 0;
}

static int find_kind(const char *name)
{
	for (size_t i = 0; name != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (int)i;
	return -1;
}

int guard_wire_next(struct guard_wire_reader *reader, struct guard_wire_record *ret)
{
	int kind = find_kind(take_field(reader));

	if (kind < 0)
		return -EPROTO;
	*ret = (struct guard_wire_record){ .kind = (enum guard_wire_kind)kind,
					   .value = { "", "", "" } };
	if (!take_number(reader, &ret->place.line) || !take_number(reader, &ret->place.column))
		return -EPROTO;
	for (size_t i = 0; i < kinds[kind].values; i++) {
		ret->value[i] = take_field(reader);
		if (ret->value[i] == NULL)
			return -EPROTO;
	}
	if (ret->kind != GUARD_WIRE_END)
		return 1;
	return reader->at == reader->end ? 0 : -EPROTO;
}
