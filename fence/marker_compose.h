/* A marker's next state, composed from its last one: the pure half of writing. For
 * fence/marker_write.c and its tests. */
#ifndef FENCE_MARKER_COMPOSE_H
#define FENCE_MARKER_COMPOSE_H

#include "fence/marker.h"

/* What is new in a state. Strings that are empty and numbers that are 0 are not
 * known and not written. */
struct fence_marker_news {
	enum fence_marker_status status;
	struct fence_marker_place place;
	int64_t seq;
	char nonce[FENCE_MARKER_NONCE_BYTES];
	char handle[FENCE_MARKER_HANDLE_BYTES];
	const struct fence_ident *group;
	uint64_t group_cgroup;
	const struct fence_marker_result *result;
	enum fence_marker_by by;
};

/* The members of `old` (an object) in their order, each as it was, byte for byte, or
 * anew; then what is new. The result went through the reader's own rules: what a
 * reader would refuse is never published. -EFBIG: it would not fit 1024 bytes. */
int fence_marker_compose(const char *old, size_t old_bytes, enum fence_marker_format format,
			 const struct fence_marker_news *news, struct fence_marker *ret,
			 struct fence_err *err);

#endif
