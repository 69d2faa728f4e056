/* args FILE COMMAND...: executes COMMAND with each word "@" of it replaced by the lines of
 * FILE, for command lines that are too long to be written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 32768

int main(int argc, char **argv)
{
	static char text[4 << 20];
	static char *words[WORDS_MAX];
	FILE *file = argc < 3 ? NULL : fopen(argv[1], "re");
	size_t count = 0;

	if (file == NULL) {
		fprintf(stderr, "usage: args FILE COMMAND...\n");
		return 2;
	}
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	for (int i = 2; i < argc; i++) {
		char *rest = NULL;

		if (strcmp(argv[i], "@") != 0) {
			words[count++] = argv[i];
			continue;
		}
		for (char *line = strtok_r(text, "\n", &rest);
		     line != NULL && count < WORDS_MAX - 64; line = strtok_r(NULL, "\n", &rest))
			words[count++] = line;
	}
	(void)execvp(words[0], words);
	perror(words[0]);
	return 127;
}
