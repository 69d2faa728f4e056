/* --net ports:SPEC: of the host's network, some ports of TCP.
 *
 *   SPEC   items with commas: n or n-m may be connected to; bind:n and bind:n-m may be
 *          listened on; bind:0 is a port that the kernel chooses */
#ifndef GUARD_POLICY_PORTS_H
#define GUARD_POLICY_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GUARD_PORT_RANGES 64
#define GUARD_PORTS_MAX	  4096 /* of both kinds; each costs the kernel a rule */

struct guard_port_range {
	uint16_t first, last;
};

struct guard_port_list {
	struct guard_port_range ranges[GUARD_PORT_RANGES];
	size_t count;
};

struct guard_ports {
	struct guard_port_list connect, bind;
};

/* What comes after "ports:", added to *ports. NULL, or what is wrong with it in words. */
const char *guard_ports_parse(const char *spec, struct guard_ports *ports);

bool guard_ports_have(const struct guard_port_list *list, uint16_t port);

#endif
