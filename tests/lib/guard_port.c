/* guard_port: one way of using a port, and "ok" or the name of the error. Ports are on
 * this machine's lo.
 *
 *   guard_port serve                 listens on 127.0.0.1 and ::1, prints the port, until
 *                                    standard input ends
 *   guard_port hold FD CMD...        CMD with a listening socket that has a client as FD
 *   guard_port accept FD             the next client
 *   guard_port v4|v6|mapped PORT     connects: IPv4, IPv6, IPv4 through an IPv6 socket
 *   guard_port again PORT OTHER      connects to PORT, takes that back (AF_UNSPEC), and
 *                                    connects to OTHER with the same socket
 *   guard_port open4 PORT            connects with TCP_FASTOPEN_CONNECT
 *   guard_port defer PORT OTHER      the same, and then sends to OTHER; prints where to
 *   guard_port sendto|sendmsg|sendmmsg PORT [FLAGS]   with MSG_FASTOPEN, or FLAGS
 *   guard_port socket FAMILY TYPE PROTOCOL
 *   guard_port layer NAME            gives a socket an upper layer (TCP_ULP)
 *   guard_port bind4|bind6|unspec PORT   binds and listens
 *   guard_port unbound               listens without having bound
 *   guard_port unix                  a UNIX socket listens */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef TCP_FASTOPEN_CONNECT
#define TCP_FASTOPEN_CONNECT 30
#endif

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static socklen_t address_of(union address *ret, const char *kind, const char *port)
{
	in_port_t number = htons((uint16_t)strtoul(port, NULL, 10));
	const char *text = strcmp(kind, "mapped") == 0 ? "::ffff:127.0.0.1" : "::1";

	memset(ret, 0, sizeof(*ret));
	if (strchr(kind, '4') != NULL) {
		ret->four.sin_family = AF_INET;
		ret->four.sin_port = number;
		ret->four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(ret->four);
	}
	ret->six.sin6_family = AF_INET6;
	ret->six.sin6_port = number;
	(void)inet_pton(AF_INET6, text, &ret->six.sin6_addr);
	return sizeof(ret->six);
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int answer(int rc)
{
	return rc < 0 ? -errno : 0;
}

static int try_connect(char **args)
{
	union address to;
	socklen_t size = address_of(&to, args[0], args[1]);
	int fd = socket(to.any.sa_family, SOCK_STREAM, 0);

	return answer(fd < 0 ? fd : connect(fd, &to.any, size));
}

static int try_again(char **args)
{
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	union address first, second;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = address_of(&first, "4", args[1]);

	(void)address_of(&second, "4", args[2]);
	if (fd < 0 || connect(fd, &first.any, size) < 0 || connect(fd, &none, sizeof(none)) < 0) {
		perror("guard_port: the first half");
		exit(1);
	}
	return answer(connect(fd, &second.any, size));
}

static int open_fast(const char *port)
{
	union address to;
	socklen_t size = address_of(&to, "4", port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) < 0 ||
	    connect(fd, &to.any, size) < 0)
		return -errno;
	return fd;
}

static int try_open(char **args)
{
	int fd = open_fast(args[1]);

	return fd < 0 ? fd : 0;
}

static int try_defer(char **args)
{
	union address to;
	socklen_t size = address_of(&to, "4", args[2]);
	int fd = open_fast(args[1]);

	if (fd < 0)
		return fd;
	(void)sendto(fd, "x", 1, MSG_NOSIGNAL, &to.any, size);
	size = sizeof(to);
	if (getpeername(fd, &to.any, &size) < 0)
		return -errno;
	printf("%u\n", ntohs(to.four.sin_port));
	exit(0);
}

static int try_send(char **args)
{
	union address to;
	socklen_t size = address_of(&to, "4", args[1]);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int flags = args[2] != NULL ? (int)strtol(args[2], NULL, 0) : MSG_FASTOPEN;
	char byte = 0;
	struct iovec bytes = { .iov_base = &byte, .iov_len = 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &to,
						.msg_namelen = size,
						.msg_iov = &bytes,
						.msg_iovlen = 1 } };

	flags |= MSG_NOSIGNAL;
	if (fd < 0)
		return -errno;
	if (strcmp(args[0], "sendto") == 0)
		return answer((int)sendto(fd, "x", 1, flags, &to.any, size));
	if (strcmp(args[0], "sendmsg") == 0)
		return answer((int)sendmsg(fd, &message.msg_hdr, flags));
	return answer(sendmmsg(fd, &message, 1, flags));
}

static int try_socket(char **args)
{
	return answer(socket(number(args[1]), number(args[2]), number(args[3])));
}

static int try_layer(char **args)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return answer(
		fd < 0 ? fd
		       : setsockopt(fd, IPPROTO_TCP, TCP_ULP, args[1], (socklen_t)strlen(args[1])));
}

static int try_bind(char **args)
{
	union address at;
	socklen_t size = address_of(&at, args[0], args[1]);
	int on = 1;
	int fd;

	if (strcmp(args[0], "unspec") == 0) {
		/* bind(2) takes it for IPv4's any address. */
		(void)address_of(&at, "4", args[1]);
		at.four.sin_family = AF_UNSPEC;
		at.four.sin_addr.s_addr = INADDR_ANY;
		size = sizeof(at.four);
	}
	fd = socket(at.any.sa_family == AF_INET6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	return answer(bind(fd, &at.any, size) < 0 ? -1 : listen(fd, 1));
}

static int try_unbound(char **args)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)args;
	return answer(fd < 0 ? fd : listen(fd, 1));
}

static int try_unix(char **args)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)args;
	/* No name: an abstract one of the kernel's choosing. */
	return answer(fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(sa_family_t)) < 0
			      ? -1
			      : listen(fd, 1));
}

static int try_accept(char **args)
{
	return answer(accept(number(args[1]), NULL, NULL));
}

/* A listening socket on a port of the kernel's choosing. */
static int listen_on(const char *kind, const char *port, char ret_port[16])
{
	union address at;
	socklen_t size = address_of(&at, kind, port);
	int fd = socket(at.any.sa_family, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, &at.any, size) < 0 || listen(fd, 64) < 0 ||
	    getsockname(fd, &at.any, &size) < 0) {
		perror("guard_port: listen");
		exit(1);
	}
	(void)snprintf(ret_port, 16, "%u", ntohs(at.four.sin_port));
	return fd;
}

static int serve(void)
{
	char port[16];
	char byte;

	(void)listen_on("v4", "0", port);
	(void)listen_on("v6", port, port);
	printf("%s\n", port);
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

static int hold(char **args)
{
	char *to[3] = { (char *)(uintptr_t) "v4", NULL, NULL };
	char port[16];
	int fd = listen_on("v4", "0", port);

	to[1] = port;
	if (try_connect(to) < 0 || dup2(fd, number(args[1])) < 0)
		return 1;
	execvp(args[2], args + 2);
	perror(args[2]);
	return 127;
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **args);
} tries[] = {
	{ "v4", 1, try_connect },    { "v6", 1, try_connect },	    { "mapped", 1, try_connect },
	{ "again", 2, try_again },   { "open4", 1, try_open },	    { "defer", 2, try_defer },
	{ "sendto", 1, try_send },   { "sendmsg", 1, try_send },    { "sendmmsg", 1, try_send },
	{ "socket", 3, try_socket }, { "bind4", 1, try_bind },	    { "bind6", 1, try_bind },
	{ "unspec", 1, try_bind },   { "unbound", 0, try_unbound }, { "unix", 0, try_unix },
	{ "accept", 1, try_accept }, { "layer", 1, try_layer },
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		return serve();
	if (argc > 3 && strcmp(argv[1], "hold") == 0)
		return hold(argv + 1);
	for (size_t i = 0; argc > 1 && i < sizeof(tries) / sizeof(tries[0]); i++) {
		int rc;

		if (strcmp(argv[1], tries[i].name) != 0 || argc - 2 < tries[i].words)
			continue;
		rc = tries[i].run(argv + 1);
		printf("%s\n", rc == 0 ? "ok" : strerrorname_np(-rc));
		return 0;
	}
	fprintf(stderr, "usage: guard_port WHAT [ARG...]\n");
	return 2;
}
