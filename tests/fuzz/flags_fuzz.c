/* Any words at all: nothing that the filter keeps may be a switch that it should
 * have dropped or refused, and every word is either kept or counted. Words are
 * separated by NUL bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/browser/flags.h"

#define WORDS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const char *kept[WORDS + 1];
	char *words[WORDS];
	struct flags_report report;
	size_t count = 0, kept_count = 0;
	char *text = malloc(size_bytes + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	for (size_t at = 0; at < size_bytes && count < WORDS; at += strlen(text + at) + 1)
		words[count++] = text + at;
	flags_filter(words, count, (size_bytes & 1) != 0, kept, &report);
	while (kept[kept_count] != NULL)
		kept_count++;
	if (!flags_are_clean((char *const *)(uintptr_t)kept, kept_count))
		abort();
	if (kept_count > count || kept_count + report.dropped > count)
		abort();
	if (report.reason == REASON_OK && kept_count + report.dropped != count)
		abort();
	free(text);
	return 0;
}
