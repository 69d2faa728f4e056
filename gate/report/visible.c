#include "gate/report/visible.h"

#include <string.h>

#include "fence/utf8.h"

#define MOST_BYTES 16 /* four bytes of a character as \xNN each */

static bool turns_text(const unsigned char *at, size_t length)
{
	/* U+202A to U+202E and U+2066 to U+2069: text that reads otherwise than it is. */
	if (length != 3 || at[0] != 0xe2)
		return false;
	return (at[1] == 0x80 && at[2] >= 0xaa && at[2] <= 0xae) ||
	       (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9);
}

static bool stays(struct gate_visible how, const char *at, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)at;

	if (length == 0)
		return false;
	if (length == 1)
		return (bytes[0] >= 0x20 && bytes[0] < 0x7f) ||
		       (how.lines && (bytes[0] == '\n' || bytes[0] == '\t'));
	if (!how.utf8 || turns_text(bytes, length))
		return false;
	return !(length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
}

static size_t put_hex(const char *bytes, size_t count, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		ret[i * 4] = '\\';
		ret[i * 4 + 1] = 'x';
		ret[i * 4 + 2] = digits[byte >> 4];
		ret[i * 4 + 3] = digits[byte & 15];
	}
	return count * 4;
}

size_t gate_visible(struct gate_visible how, const char *bytes, size_t count, char *ret,
		    size_t size_bytes, size_t *ret_used)
{
	size_t used = 0, length = 0;

	while (used < count && size_bytes - length >= MOST_BYTES) {
		size_t character = fence_utf8_length(bytes + used, count - used);
		size_t taken = character > 0 ? character : 1;

		if (stays(how, bytes + used, character)) {
			memcpy(ret + length, bytes + used, taken);
			length += taken;
		} else {
			length += put_hex(bytes + used, taken, ret + length);
		}
		used += taken;
	}
	*ret_used = used;
	return length;
}
