#include <stdint.h>
#include <string.h>

#include "fence/opts.h"

/* Edit distance (Levenshtein 1965), row by row; words are short. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[FENCE_WORD_MAX + 1];
	size_t length = strlen(b);

	if (length > FENCE_WORD_MAX || strlen(a) > FENCE_WORD_MAX)
		return UINT32_MAX;
	for (size_t k = 0; k <= length; k++)
		row[k] = (unsigned int)k;
	for (size_t i = 0; a[i] != '\0'; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i + 1;
		for (size_t k = 0; k < length; k++) {
			unsigned int best = diagonal + (a[i] != b[k]);

			diagonal = row[k + 1];
			if (row[k] + 1 < best)
				best = row[k] + 1;
			if (diagonal + 1 < best)
				best = diagonal + 1;
			row[k + 1] = best;
		}
	}
	return row[length];
}

const char *fence_nearest(const char *word, const char *const *words, size_t count)
{
	const char *best = NULL;
	unsigned int best_distance = (unsigned int)strlen(word) / 3 + 2;

	for (size_t i = 0; i < count; i++) {
		unsigned int d = distance(word, words[i]);

		if (d < best_distance) {
			best_distance = d;
			best = words[i];
		}
	}
	return best;
}
