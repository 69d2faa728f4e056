#!/bin/sh
# Ordinary work goes on inside.
. "$(dirname "$0")/guard.sh"

for need in make cc git; do
	command -v $need >/dev/null || { lacks "building inside" $need; done_testing; }
done
cat >main.c <<'C'
#include <stdio.h>
int main(void) { puts("built"); return 0; }
C
cat >Makefile <<'M'
prog: main.o
	$(CC) -o $@ main.o
main.o: main.c
	$(CC) -pipe -O2 -c -o $@ main.c
M
exits "make and the compiler work" 0 guard -- make -j2
is "the program runs" "$(guard -- ./prog)" built
exits "as root, the compiler does not remove /dev/null" 0 guard -- sh -c 'cc -o /dev/null main.c; test -c /dev/null'
git init -q . && git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m first
exits "git looks" 0 guard -- sh -c 'git status --short >seen && git log -1 >/dev/null && grep -q main.c seen'
exits "git commits where that is allowed" 0 guard --rw .git -- sh -c 'git add main.c && git -c user.name=n -c user.email=e@example.org commit -q -m second'
is "on the host, too" "$(git rev-list --count HEAD)" 2
is "pipes do not hang" "$(guard -- sh -c 'i=0; while [ $i -lt 100 ]; do echo a | cat | cat >/dev/null; i=$((i+1)); done; echo $i')" 100
exits "shared memory and locks work" 0 guard -- sh -c 'echo x >/dev/shm/x && flock lockfile true'
done_testing
