/* What a verb of fence-marker says: one sentence or one JSON line. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fence/cli/marker_cli.h"
#include "fence/sys.h"

/* White space between the marker's members could be newlines, and a record is one
 * line. */
static void write_marker(struct fence_jsonw *w, const struct fence_marker *marker)
{
	char line[FENCE_MARKER_BYTES];
	size_t length = 0;
	bool in_string = false;

	for (size_t i = 0; i < marker->text_bytes; i++) {
		char c = marker->text[i];

		if (!in_string && strchr(" \t\r\n", c))
			continue;
		line[length++] = c;
		if (in_string && c == '\\')
			line[length++] = marker->text[++i];
		else if (c == '"')
			in_string = !in_string;
	}
	fence_jsonw_raw(w, "marker", line, length);
}

static void write_outcome(struct fence_jsonw *w, const struct marker_outcome *out)
{
	if (out->marker) {
		write_marker(w, out->marker);
		fence_jsonw_open(w, "identity", '{');
		fence_marker_place_write(w, &out->marker->place);
		fence_jsonw_close(w, '}');
		fence_jsonw_open(w, "approved", '{');
		fence_marker_approved_write(w, out->marker);
		fence_jsonw_close(w, '}');
	}
	if (out->life)
		fence_jsonw_string(w, "life", out->life);
	if (out->more)
		out->more(w, out->more_arg);
	if (out->rule)
		fence_jsonw_string(w, "rule", out->rule);
	if (out->err.code < 0) {
		fence_jsonw_string(w, "what", out->err.what);
		fence_jsonw_string(w, "why",
				   out->err.why[0] ? out->err.why
						   : fence_errno_words(out->err.code));
	}
}

static int say_json(const struct marker_conf *conf, const struct marker_outcome *out,
		    const char *schema)
{
	char line[32768];
	struct fence_jsonw w;

	fence_jsonw_init(&w, line, sizeof(line));
	fence_jsonw_open(&w, NULL, '{');
	fence_jsonw_head(&w, schema, MARKER_PROGRAM);
	fence_jsonw_string(&w, "path", conf->path);
	fence_jsonw_string(&w, "outcome", out->word);
	write_outcome(&w, out);
	fence_jsonw_close(&w, '}');
	return fence_jsonw_line(&w, STDOUT_FILENO);
}

static int say_sentence(const struct marker_conf *conf, const struct marker_outcome *out)
{
	char buf[PATH_MAX * 4 + 16384];
	struct fence_text text;

	if (!out->marker)
		return 0;
	fence_text_init(&text, buf, sizeof(buf));
	fence_text_add_safe(&text, conf->path, strlen(conf->path));
	fence_text_add(&text, ": %s: attempt %s is %s, supervisor pid %d", out->word,
		       out->marker->attempt_id, fence_marker_status_word(out->marker->status),
		       out->marker->supervisor.pid);
	if (out->marker->seq != 0)
		fence_text_add(&text, ", seq %lld", (long long)out->marker->seq);
	fence_text_add(&text, "%s\n", out->tail ? out->tail : "");
	return fence_write_full(STDOUT_FILENO, text.buf, text.length_bytes);
}

int marker_complain(const struct fence_err *err, int status)
{
	char line[1200];
	size_t length = fence_err_line(err, MARKER_PROGRAM, line, sizeof(line));

	(void)fence_write_full(STDERR_FILENO, line, length); /* there is nowhere else to say it */
	return status;
}

int marker_say(const struct marker_conf *conf, const struct marker_outcome *out, const char *schema)
{
	struct fence_err err;
	int rc = conf->json ? say_json(conf, out, schema) : say_sentence(conf, out);

	if (out->err.code < 0)
		(void)marker_complain(&out->err, out->status);
	if (rc == 0)
		return out->status;
	(void)fence_fail(&err, rc, "write to standard output");
	if (!out->changed)
		return marker_complain(&err, STATUS_REFUSED);
	(void)fence_hint(&err, "the marker was written all the same: read it");
	return marker_complain(&err, STATUS_OTHER_STATE);
}

void marker_fail_none(struct fence_err *err, const char *path)
{
	(void)fence_fail_why(err, -EBADMSG, "no authentic marker", "%s", path);
	(void)fence_hint(err, "fence-marker read --explain says which rule is broken");
}
