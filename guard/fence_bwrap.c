/* fence-bwrap: bubblewrap's command line. See fence-bwrap(1). */

#include "guard/bwrap/bwrap.h"

int main(int argc, char **argv)
{
	return guard_bwrap_main(argc, argv);
}
