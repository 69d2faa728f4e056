#include "guard/confine/report.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

int guard_report_send(int sock, const struct guard_report *report, int fd_too)
{
	union {
		struct cmsghdr header; /* for its alignment */
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)report, .iov_len = sizeof(*report) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t put;

	if (fd_too >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)),
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.header), &fd_too, sizeof(int));
	}
	do {
		put = sendmsg(sock, &message, MSG_NOSIGNAL);
	} while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : 0;
}

int guard_report_take(int sock, struct guard_report *ret, int *ret_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t got;

	*ret_fd = -1;
	do {
		got = recvmsg(sock, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? 0 : errno == ECONNRESET ? -EPIPE : -errno;
	if (message.msg_controllen >= sizeof(control.header) &&
	    control.header.cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(&control.header), sizeof(int));
	return (size_t)got == sizeof(*ret) ? 1 : -EPIPE;
}
