/* tcp_listen: listens on 127.0.0.1, prints the port, and goes on until its standard
 * input ends. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 8) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
		perror("tcp_listen");
		return 1;
	}
	(void)printf("%d\n", ntohs(address.sin_port));
	if (fflush(stdout) != 0)
		return 1;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
