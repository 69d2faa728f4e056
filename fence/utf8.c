#include "fence/utf8.h"

#include <stdint.h>

/* RFC 3629, section 4: the lead byte settles the length and the range of the
 * second byte; every further byte is 80..BF. */
static const struct {
	uint8_t lead_min, lead_max, second_min, second_max, length;
} forms[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

size_t fence_utf8_length(const char *text, size_t left_bytes)
{
	const uint8_t *at = (const uint8_t *)text;

	if (left_bytes == 0)
		return 0;
	if (at[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (at[0] < forms[i].lead_min || at[0] > forms[i].lead_max)
			continue;
		if (left_bytes < forms[i].length || at[1] < forms[i].second_min ||
		    at[1] > forms[i].second_max)
			return 0;
		for (size_t k = 2; k < forms[i].length; k++)
			if ((at[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

bool fence_utf8_is_valid(const char *text, size_t size_bytes)
{
	for (size_t at = 0; at < size_bytes;) {
		size_t length = fence_utf8_length(text + at, size_bytes - at);

		if (length == 0)
			return false;
		at += length;
	}
	return true;
}
