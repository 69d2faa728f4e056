/* Any text where the kernel's would be. The command line is the one that a process
 * writes itself. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "guard/browser/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct proc_layers layers = { 0 };
	struct proc_stat stat;
	char *text = malloc(size_bytes + 1);
	enum proc_type type;

	if (text == NULL)
		return 0;
	memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	type = proc_parse_type(text, size_bytes);
	if (proc_type_word(type) == NULL)
		abort();
	if (proc_parse_stat(text, &stat) == 0 && stat.ppid < 0)
		abort();
	if (proc_parse_status(text, &layers) == 0 && layers.seccomp_filters < -1)
		abort();
	free(text);
	return 0;
}
