#include "fence/conf/yaml.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "fence/text.h"

/* --- memory: everything of one tree goes at once --------------------------- */

#define CHUNK_BYTES ((size_t)16 * 1024)

struct fence_yaml_chunk {
	struct fence_yaml_chunk *next;
	size_t used_bytes, size_bytes;
	max_align_t bytes[];
};

void *fence_yaml_alloc(struct fence_yaml *yaml, size_t size_bytes)
{
	struct fence_yaml_chunk *chunk = yaml->chunks;
	size_t wanted = (size_bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
	void *at;

	if (!chunk || chunk->size_bytes - chunk->used_bytes < wanted) {
		size_t room = wanted > CHUNK_BYTES ? wanted : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->size_bytes = room;
		chunk->next = yaml->chunks;
		yaml->chunks = chunk;
	}
	at = (char *)chunk->bytes + chunk->used_bytes;
	chunk->used_bytes += wanted;
	return at;
}

void fence_yaml_free(struct fence_yaml *yaml)
{
	if (!yaml)
		return;
	while (yaml->chunks) {
		struct fence_yaml_chunk *next = yaml->chunks->next;

		free(yaml->chunks);
		yaml->chunks = next;
	}
	free(yaml);
}

/* --- faults ------------------------------------------------------------------ */

static bool is_before(const struct fence_yaml_fault *a, const struct fence_yaml_fault *b)
{
	return a->line != b->line ? a->line < b->line : a->column < b->column;
}

/* Keeps the list in the order of the file. When it is full the last one goes, for
 * the first faults are those that a reader mends first. */
static void keep_fault(struct fence_yaml *yaml, const struct fence_yaml_fault *fault)
{
	size_t at = yaml->fault_count;

	while (at > 0 && is_before(fault, &yaml->faults[at - 1]))
		at--;
	if (at == FENCE_YAML_MAX_FAULTS)
		return;
	if (yaml->fault_count < FENCE_YAML_MAX_FAULTS)
		yaml->fault_count++;
	memmove(&yaml->faults[at + 1], &yaml->faults[at],
		(yaml->fault_count - at - 1) * sizeof(yaml->faults[0]));
	yaml->faults[at] = *fault;
}

__attribute__((format(printf, 5, 0))) static void add_fault(struct fence_yaml *yaml, bool warning,
							    unsigned int line, unsigned int column,
							    const char *format, va_list args)
{
	struct fence_yaml_fault fault = { .line = line, .column = column, .warning = warning };
	size_t prefix = 0;

	if (warning)
		prefix = (size_t)snprintf(fault.text, sizeof(fault.text), "warning: ");
	(void)vsnprintf(fault.text + prefix, sizeof(fault.text) - prefix, format, args);
	if (warning)
		yaml->warning_total++;
	else
		yaml->error_total++;
	keep_fault(yaml, &fault);
}

void fence_yaml_fault(struct fence_yaml *yaml, unsigned int line, unsigned int column,
		      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_fault(yaml, false, line, column, format, args);
	va_end(args);
}

void fence_yaml_warn(struct fence_yaml *yaml, unsigned int line, unsigned int column,
		     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_fault(yaml, true, line, column, format, args);
	va_end(args);
}

void fence_yaml_fault_line(const struct fence_yaml_fault *fault, const char *file, char *buf,
			   size_t size_bytes)
{
	struct fence_text text;

	fence_text_init(&text, buf, size_bytes);
	fence_text_add_safe(&text, file, strlen(file));
	fence_text_add(&text, ":%u:%u: ", fault->line, fault->column);
	fence_text_add_safe(&text, fault->text, strlen(fault->text));
}

/* --- bytes before libyaml sees them ----------------------------------------- */

/* libyaml takes a tab before a flow collection's next line, other readers do not;
 * with block indentation it stops with a message that names no tab. */
static void find_tabs(struct fence_yaml *yaml, const char *text, size_t size_bytes)
{
	unsigned int line = 1, column = 1;
	bool leading = true;

	for (size_t i = 0; i < size_bytes; i++) {
		if (text[i] == '\n') {
			line++;
			column = 1;
			leading = true;
			continue;
		}
		if (leading && text[i] == '\t') {
			fence_yaml_fault(yaml, line, column,
					 "a tab in the indentation; use spaces");
			leading = false;
		} else if (text[i] != ' ') {
			leading = false;
		}
		column++;
	}
}

/* --- events to nodes ----------------------------------------------------------- */

struct level {
	struct fence_yaml_node *node;
	struct fence_yaml_node *last;
	const char *key; /* read, its value not yet */
	unsigned int key_line, key_column;
	bool key_refused; /* its value is read and dropped */
};

struct builder {
	struct fence_yaml *yaml;
	yaml_parser_t parser;
	struct level levels[FENCE_YAML_MAX_DEPTH];
	size_t depth;
	size_t nodes;
	unsigned int documents;
	struct fence_yaml_node *root;
};

#define STOP 1 /* a fault was added after which the reader does not go on */

static unsigned int line_of(const yaml_event_t *event)
{
	return (unsigned int)event->start_mark.line + 1;
}

static unsigned int column_of(const yaml_event_t *event)
{
	return (unsigned int)event->start_mark.column + 1;
}

static char *copy_text(struct fence_yaml *yaml, const void *bytes, size_t length)
{
	char *copy = fence_yaml_alloc(yaml, length + 1);

	if (copy)
		memcpy(copy, bytes, length);
	return copy;
}

static void refuse_anchor_and_tag(struct builder *b, const yaml_event_t *event,
				  const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor)
		fence_yaml_fault(b->yaml, line_of(event), column_of(event),
				 "anchor \"&%.64s\"; write the value where it is used",
				 (const char *)anchor);
	if (tag)
		fence_yaml_fault(b->yaml, line_of(event), column_of(event),
				 "tag \"%.64s\"; values have no tags here", (const char *)tag);
}

static const struct fence_yaml_node *find_key(const struct fence_yaml_node *mapping,
					      const char *key)
{
	for (const struct fence_yaml_node *at = mapping->first; at; at = at->next)
		if (strcmp(at->key, key) == 0)
			return at;
	return NULL;
}

static int take_key(struct builder *b, struct level *level, const yaml_event_t *event)
{
	const struct fence_yaml_node *first;

	level->key_line = line_of(event);
	level->key_column = column_of(event);
	level->key_refused = true;
	if (event->type != YAML_SCALAR_EVENT) {
		fence_yaml_fault(b->yaml, level->key_line, level->key_column,
				 "a key must be a scalar");
		return STOP;
	}
	if (level->node->count == FENCE_YAML_MAX_KEYS) {
		fence_yaml_fault(b->yaml, level->key_line, level->key_column,
				 "more than %d keys in one mapping", FENCE_YAML_MAX_KEYS);
		return STOP;
	}
	level->key = copy_text(b->yaml, event->data.scalar.value, event->data.scalar.length);
	if (!level->key)
		return -ENOMEM;
	if (strlen(level->key) != event->data.scalar.length) {
		fence_yaml_fault(b->yaml, level->key_line, level->key_column, "a NUL in a key");
		return 0;
	}
	if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(level->key, "<<") == 0) {
		fence_yaml_fault(b->yaml, level->key_line, level->key_column,
				 "merge key \"<<\"; write the keys where they are used");
		return 0;
	}
	first = find_key(level->node, level->key);
	if (first) {
		fence_yaml_fault(b->yaml, level->key_line, level->key_column,
				 "key \"%.64s\" on line %u is on line %u already", level->key,
				 level->key_line, first->key_line);
		return 0;
	}
	level->key_refused = false;
	return 0;
}

static void link_node(struct builder *b, struct fence_yaml_node *node)
{
	struct level *level;

	if (b->depth == 0) {
		b->root = node;
		return;
	}
	level = &b->levels[b->depth - 1];
	node->key = level->key;
	node->key_line = level->key_line;
	node->key_column = level->key_column;
	level->key = NULL;
	if (level->node->kind == FENCE_YAML_MAPPING && level->key_refused)
		return;
	if (level->last)
		level->last->next = node;
	else
		level->node->first = node;
	level->last = node;
	level->node->count++;
}

static int add_node(struct builder *b, const yaml_event_t *event, enum fence_yaml_kind kind,
		    struct fence_yaml_node **ret)
{
	struct fence_yaml_node *node;

	if (++b->nodes > FENCE_YAML_MAX_NODES) {
		fence_yaml_fault(b->yaml, line_of(event), column_of(event),
				 "more than %d values in the file", FENCE_YAML_MAX_NODES);
		return STOP;
	}
	node = fence_yaml_alloc(b->yaml, sizeof(*node));
	if (!node)
		return -ENOMEM;
	node->kind = kind;
	node->line = line_of(event);
	node->column = column_of(event);
	node->text = "";
	link_node(b, node);
	*ret = node;
	return 0;
}

static int open_level(struct builder *b, const yaml_event_t *event, enum fence_yaml_kind kind)
{
	struct fence_yaml_node *node;
	int rc;

	if (b->depth == FENCE_YAML_MAX_DEPTH) {
		fence_yaml_fault(b->yaml, line_of(event), column_of(event), "nested deeper than %d",
				 FENCE_YAML_MAX_DEPTH);
		return STOP;
	}
	rc = add_node(b, event, kind, &node);
	if (rc != 0)
		return rc;
	b->levels[b->depth++] = (struct level){ .node = node };
	return 0;
}

static int add_scalar(struct builder *b, const yaml_event_t *event)
{
	struct fence_yaml_node *node;
	char *text;
	int rc;

	rc = add_node(b, event, FENCE_YAML_SCALAR, &node);
	if (rc != 0)
		return rc;
	text = copy_text(b->yaml, event->data.scalar.value, event->data.scalar.length);
	if (!text)
		return -ENOMEM;
	node->text = text;
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (strlen(text) != event->data.scalar.length)
		fence_yaml_fault(b->yaml, node->line, node->column, "a NUL in a value");
	return 0;
}

static int start_document(struct builder *b, const yaml_event_t *event)
{
	if (++b->documents > 1) {
		fence_yaml_fault(b->yaml, line_of(event), column_of(event),
				 "a second document; a file has one");
		return STOP;
	}
	if (event->data.document_start.version_directive ||
	    event->data.document_start.tag_directives.start !=
		    event->data.document_start.tag_directives.end)
		fence_yaml_fault(b->yaml, line_of(event), column_of(event),
				 "a %% directive; leave it out");
	return 0;
}

static int add_alias(struct builder *b, const yaml_event_t *event)
{
	struct fence_yaml_node *node;

	fence_yaml_fault(b->yaml, line_of(event), column_of(event),
			 "alias \"*%.64s\"; write the value here",
			 (const char *)event->data.alias.anchor);
	return add_node(b, event, FENCE_YAML_SCALAR, &node);
}

static void refuse_decoration(struct builder *b, const yaml_event_t *event)
{
	if (event->type == YAML_SCALAR_EVENT)
		refuse_anchor_and_tag(b, event, event->data.scalar.anchor, event->data.scalar.tag);
	if (event->type == YAML_SEQUENCE_START_EVENT)
		refuse_anchor_and_tag(b, event, event->data.sequence_start.anchor,
				      event->data.sequence_start.tag);
	if (event->type == YAML_MAPPING_START_EVENT)
		refuse_anchor_and_tag(b, event, event->data.mapping_start.anchor,
				      event->data.mapping_start.tag);
}

static bool is_key_next(const struct builder *b, const yaml_event_t *event)
{
	const struct level *level = b->depth > 0 ? &b->levels[b->depth - 1] : NULL;

	return level && level->node->kind == FENCE_YAML_MAPPING && !level->key &&
	       event->type != YAML_MAPPING_END_EVENT;
}

static int take_event(struct builder *b, const yaml_event_t *event)
{
	refuse_decoration(b, event);
	if (is_key_next(b, event))
		return take_key(b, &b->levels[b->depth - 1], event);
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return start_document(b, event);
	case YAML_ALIAS_EVENT:
		return add_alias(b, event);
	case YAML_SCALAR_EVENT:
		return add_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(b, event, FENCE_YAML_LIST);
	case YAML_MAPPING_START_EVENT:
		return open_level(b, event, FENCE_YAML_MAPPING);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return 0;
	default:
		return 0;
	}
}

/* Where libyaml's reader stopped: it knows the offset alone. */
static void place_of_offset(const char *text, size_t offset, unsigned int *ret_line,
			    unsigned int *ret_column)
{
	unsigned int line = 1, column = 1;

	for (size_t i = 0; i < offset; i++) {
		/* Columns are characters, as in libyaml's own marks. */
		column += ((unsigned char)text[i] & 0xc0) != 0x80;
		if (text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	*ret_line = line;
	*ret_column = column;
}

static int take_parser_error(struct builder *b, const char *text, size_t size_bytes)
{
	const yaml_parser_t *parser = &b->parser;
	const char *problem = parser->problem ? parser->problem : "not YAML";
	unsigned int line = (unsigned int)parser->problem_mark.line + 1;
	unsigned int column = (unsigned int)parser->problem_mark.column + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	if (parser->error == YAML_READER_ERROR)
		place_of_offset(text,
				parser->problem_offset < size_bytes ? parser->problem_offset
								    : size_bytes,
				&line, &column);
	/* An unclosed bracket is noticed only where something else follows. */
	if (parser->context)
		fence_yaml_fault(b->yaml, line, column, "%s, %s that begins at %zu:%zu", problem,
				 parser->context, parser->context_mark.line + 1,
				 parser->context_mark.column + 1);
	else
		fence_yaml_fault(b->yaml, line, column, "%s", problem);
	return STOP;
}

/* libyaml 0.2.5 spends time quadratic in the depth (80,000 brackets take 15 s), so
 * depth is counted on the events and the first one too deep is the last one asked
 * for. Its scanner looks ahead for a ':' by at most 1,024 characters, so the stop
 * comes early enough in flow collections too. */
static int build(struct builder *b, const char *text, size_t size_bytes)
{
	yaml_event_type_t type = YAML_NO_EVENT;
	int rc = 0;

	while (rc == 0 && type != YAML_STREAM_END_EVENT) {
		yaml_event_t event;

		if (!yaml_parser_parse(&b->parser, &event))
			return take_parser_error(b, text, size_bytes);
		type = event.type;
		rc = take_event(b, &event);
		yaml_event_delete(&event);
	}
	return rc;
}

int fence_yaml_parse(const char *text, size_t size_bytes, struct fence_yaml **ret)
{
	struct builder b = { 0 };
	int rc;

	if (size_bytes > FENCE_YAML_MAX_BYTES)
		return -EFBIG;
	b.yaml = calloc(1, sizeof(*b.yaml));
	if (!b.yaml)
		return -ENOMEM;
	/* Told the encoding, libyaml takes a byte order mark for text. */
	if (size_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		size_bytes -= 3;
	}
	find_tabs(b.yaml, text, size_bytes);
	if (!yaml_parser_initialize(&b.parser)) {
		fence_yaml_free(b.yaml);
		return -ENOMEM;
	}
	yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, size_bytes);
	rc = build(&b, text, size_bytes);
	yaml_parser_delete(&b.parser);
	if (rc < 0) {
		fence_yaml_free(b.yaml);
		return rc;
	}
	if (rc == 0)
		b.yaml->root = b.root;
	if (rc == 0 && !b.root)
		fence_yaml_fault(b.yaml, 1, 1, "the file is empty");
	*ret = b.yaml;
	return 0;
}

int fence_yaml_read(int dir_fd, const char *path, struct fence_yaml **ret, struct fence_err *err)
{
	/* Non-blocking: a FIFO in the file's place must not hang us. */
	owned_fd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	owned_mem char *text = NULL;
	struct stat st;
	size_t got_bytes = 0;
	int rc;

	if (fd < 0)
		return fence_fail(err, -errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return fence_fail(err, -errno, "look at %s", path);
	if (!S_ISREG(st.st_mode))
		return fence_fail_why(err, -EINVAL, "not a regular file", "read %s", path);
	text = malloc(FENCE_YAML_MAX_BYTES + 1);
	if (!text)
		return fence_fail(err, -ENOMEM, "read %s", path);
	for (;;) {
		ssize_t got =
			fence_read_some(fd, text + got_bytes, FENCE_YAML_MAX_BYTES + 1 - got_bytes);

		if (got < 0)
			return fence_fail(err, (int)got, "read %s", path);
		if (got == 0)
			break;
		got_bytes += (size_t)got;
		if (got_bytes > FENCE_YAML_MAX_BYTES)
			return fence_fail_why(err, -EFBIG, "larger than 256 KiB", "read %s", path);
	}
	rc = fence_yaml_parse(text, got_bytes, ret);
	return rc < 0 ? fence_fail(err, rc, "read %s", path) : 0;
}
