/* What is read from descriptors that the caller hands over. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "fence/own.h"
#include "fence/sys.h"
#include "guard/bwrap/bwrap.h"

int bwrap_read_all(int fd, char **ret_text, size_t *ret_bytes, struct fence_err *err)
{
	owned_fd owned = fd;
	owned_mem char *text = NULL;
	size_t room = 0;
	size_t length = 0;

	for (;;) {
		ssize_t got;

		if (length + 1 >= room) {
			char *more = room >= BWRAP_DATA_MAX ? NULL : realloc(text, room + 65536);

			if (more == NULL)
				return fence_fail(err, room >= BWRAP_DATA_MAX ? -EFBIG : -ENOMEM,
						  "read descriptor %d", fd);
			text = more;
			room += 65536;
		}
		got = fence_read_some(owned, text + length, room - length - 1);
		if (got < 0)
			return fence_fail(err, (int)got, "read descriptor %d", fd);
		if (got == 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	*ret_text = fence_take_mem(&text);
	*ret_bytes = length;
	return 0;
}

int bwrap_read_filter(struct bwrap *bwrap, int fd, bool stack, struct fence_err *err)
{
	const size_t unit = sizeof(struct sock_filter);
	owned_mem char *text = NULL;
	size_t size_bytes = 0;
	struct sock_fprog *more;
	int rc = bwrap_read_all(fd, &text, &size_bytes, err);

	if (rc < 0)
		return rc;
	if (size_bytes == 0 || size_bytes % unit != 0 || size_bytes / unit > BPF_MAXINSNS)
		return fence_fail_why(err, -EINVAL,
				      "must be a multiple of 8 bytes, and at most 4096 times 8",
				      "Invalid seccomp data");
	if (!stack && bwrap->filter_count > 0)
		free(bwrap->filters[--bwrap->filter_count].filter);
	more = realloc(bwrap->filters, (bwrap->filter_count + 1) * sizeof(*more));
	if (more == NULL)
		return fence_fail(err, -ENOMEM, "keep a seccomp filter");
	bwrap->filters = more;
	bwrap->filters[bwrap->filter_count++] = (struct sock_fprog){
		.len = (unsigned short)(size_bytes / unit),
		.filter = (struct sock_filter *)(void *)fence_take_mem(&text),
	};
	return 0;
}

int bwrap_load_filters(const struct bwrap *bwrap, struct fence_err *err)
{
	for (size_t i = 0; i < bwrap->filter_count; i++) {
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &bwrap->filters[i]) == 0)
			continue;
		fence_fail(err, -errno, "load seccomp filter %zu", i + 1);
		if (err->code == -EINVAL)
			(void)fence_hint(err, "it must be a compiled program, as "
					      "seccomp_export_bpf(3) writes it");
		return err->code;
	}
	return 0;
}
