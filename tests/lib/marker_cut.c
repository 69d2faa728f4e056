/* marker_cut: a step of a marker's life on a file system in an image, which is copied after
 * each system call: what the disk would hold if the power went there.
 *
 *   marker_cut STEP PATH IMAGE FOLDER N [forced]
 *
 * IMAGE, which the file system of PATH lies on, is copied to FOLDER/NUMBER when it changed
 * since the copy before, and after the end to FOLDER/9999. fsync number N (0: none) is
 * only pretended. forced: somebody else makes the file system write its journal after
 * each call. STEP is create, replace or over.
 *
 * Prints what it counted. Exit status: 0 the step was done, 1 it was not, 2 usage. */
#include "tests/lib/marker_trace.h"

struct cut {
	const char *image, *folder;
	unsigned int first; /* call */
	int force_fd;	    /* -1: nobody forces it */
	uint64_t last;
	unsigned int copies;
};

/* Copies what there is and returns a sum of it. Holes stay holes. */
static uint64_t copy_image(const char *from, const char *to)
{
	owned_fd in = open(from, O_RDONLY | O_CLOEXEC);
	owned_fd out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	uint64_t sum = UINT64_C(14695981039346656037);
	static uint64_t block[8192];
	struct stat st;
	off_t at = 0;

	must(in >= 0 && out >= 0 && fstat(in, &st) == 0 && ftruncate(out, st.st_size) == 0,
	     "copy the image");
	while ((at = lseek(in, at, SEEK_DATA)) >= 0) {
		off_t end = lseek(in, at, SEEK_HOLE);

		while (at < end) {
			size_t want = (size_t)(end - at) < sizeof(block) ? (size_t)(end - at)
									 : sizeof(block);
			ssize_t got = pread(in, block, want, at);

			must(got > 0 && pwrite(out, block, (size_t)got, at) == got, "copy");
			for (size_t i = 0; i < (size_t)got / sizeof(block[0]); i++)
				if (block[i] != 0)
					sum = (sum ^ block[i] ^ (uint64_t)at ^ i) *
					      UINT64_C(1099511628211);
			at += got;
		}
	}
	must(errno == ENXIO, "look for data");
	return sum;
}

/* The image is what the device has been told so far. The file system's own threads may
 * be writing, so a copy counts only when a second one is the same. */
static void cut_power(void *arg, unsigned int number)
{
	struct cut *cut = arg;
	char name[PATH_MAX];
	uint64_t sum, again;

	if (number < cut->first)
		return;
	if (cut->force_fd >= 0)
		must(fsync(cut->force_fd) == 0, "write the journal");
	(void)snprintf(name, sizeof(name), "%s/%04u", cut->folder, number);
	sum = copy_image(cut->image, name);
	while ((again = copy_image(cut->image, name)) != sum)
		sum = again;
	if (sum == cut->last) {
		must(unlink(name) == 0, "remove a copy");
		return;
	}
	cut->last = sum;
	cut->copies++;
}

static int run_cut(struct round *round, const char *image, const char *folder, long pretend,
		   bool is_forced)
{
	static struct trace plan, trace;
	struct cut cut = { .image = image, .folder = folder };
	struct fence_marker_path split;
	owned_fd fd = -1;

	rehearse(round, &plan);
	cut.first = plan.first;
	seed(round);
	approve(round);
	must(fence_marker_path_split(round->path, &split, NULL) == 0 &&
		     (fd = open(split.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0 &&
		     syncfs(fd) == 0,
	     "make the old state safe");
	cut.force_fd = is_forced ? fd : -1;
	trace = (struct trace){ .at = UINT32_MAX, .how = PRETEND, .after = cut_power, .arg = &cut };
	for (unsigned int at = plan.first; at < plan.calls && pretend > 0; at++)
		if (plan.nrs[at] == SYS_fsync && --pretend == 0)
			trace.at = at;
	run_traced(round, &trace);
	cut.last = 0;
	cut_power(&cut, 9999);
	printf("calls %u copies %u old %" PRId64 " status %d\n", trace.calls, cut.copies,
	       round->old.text_bytes > 0 ? round->old.seq : 0,
	       WIFEXITED(trace.status) ? WEXITSTATUS(trace.status) : -1);
	return WIFEXITED(trace.status) && WEXITSTATUS(trace.status) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct round round = { .step = argc == 6 || argc == 7 ? step_of(argv[1]) : STEPS };

	if (round.step == STEPS) {
		fprintf(stderr, "marker_cut: see the top of its source\n");
		return 2;
	}
	round.path = argv[2];
	return run_cut(&round, argv[3], argv[4], strtol(argv[5], NULL, 10), argc == 7);
}
