/* The fields of a marker by name, for what composes its next state. */
#ifndef FENCE_MARKER_FIELDS_H
#define FENCE_MARKER_FIELDS_H

#include "fence/marker.h"

/* Is the member what a field of ours of that name looks like? In a foreign format
 * it may be somebody else's. */
bool fence_marker_is_field(const struct fence_json *key, const struct fence_json *value);

#endif
