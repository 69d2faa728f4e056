# What people build and test with works under profile gate, as it does outside: sourced by
# the tests of the usual filter and of --strict, which say with inside() what is tested.

# What a developer's machine has, and scripts/setup installs.
for need in cc make cmake ctest git python3 node npm perl tar xz sqlite3; do
	command -v $need >/dev/null || { lacks "the toolchain works inside" "$need"; done_testing; }
done
CC=cc
export CC
HOME=$T/home
TMPDIR=/tmp
export HOME TMPDIR
mkdir "$HOME" "$T/outside"

# same NAME SCRIPT [OPTION...]: SCRIPT prints the same outside, in a copy of the folder,
# and inside, where it is also checked that it ended well.
same() {
	same_name=$1
	same_script=$2
	shift 2
	rm -rf "$T/outside"
	cp -R . "$T/outside"
	(cd "$T/outside" && sh -ec "$same_script") >"$T/wanted" 2>"$T/err"
	is "control: $same_name, outside" "$?/$(tail -n 3 "$T/err")" "0/"
	inside "$@" -- sh -ec "$same_script" >"$T/got" 2>"$T/err"
	is "$same_name" "$?/$(tail -n 3 "$T/err")" "0/"
	is "$same_name: the output" "$(cat "$T/got")" "$(cat "$T/wanted")"
}

cat >main.c <<'C'
#include <pthread.h>
#include <stdio.h>
static void *work(void *arg) { return arg; }
int main(void)
{
	pthread_t threads[8];
	int count = 0;

	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) == 0)
			count += pthread_join(threads[i], NULL) == 0;
	printf("%d threads\n", count);
	return 0;
}
C
same "gcc, a library, threads" '
	cc -O2 -pipe -c -o part.o -x c - <<X
int part(void) { return 4; }
X
	ar rcs libpart.a part.o
	cc -shared -o libpart.so part.o
	cc -pthread -o prog main.c && ./prog'

cat >Makefile <<'M'
.PHONY: all sub again
all: a.o b.o c.o sub
	@:
%.o:
	echo "int $*;" | $(CC) -x c -c -o $@ -
sub: a.o
	+@$(MAKE) --no-print-directory -f Makefile again
again: d.o e.o
	@:
M
same "make -j2 and a make below it" 'make -s -j2 && ls *.o'
rm -f ./*.o prog

cat >CMakeLists.txt <<'M'
cmake_minimum_required(VERSION 3.13)
project(trial C)
enable_testing()
find_package(Threads REQUIRED)
add_executable(trial main.c)
target_link_libraries(trial Threads::Threads)
add_test(NAME runs COMMAND trial)
add_test(NAME says COMMAND trial)
set_tests_properties(says PROPERTIES PASS_REGULAR_EXPRESSION "8 threads")
M
same "cmake and ctest" '
	cmake -S . -B build -DCMAKE_BUILD_TYPE=None >/dev/null && cmake --build build -j2 >/dev/null
	ctest --test-dir build -j2 | grep "tests passed"'
rm -rf build

cat >trial.py <<'P'
import asyncio, multiprocessing, os, pty, socket, sqlite3, subprocess, tempfile, threading
from multiprocessing import shared_memory

def square(n):
    return n * n

if __name__ == "__main__":
    results = []
    threads = [threading.Thread(target=results.append, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(sorted(results))
    for how in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(how)
        with context.Pool(2) as pool:
            print(how, pool.map(square, range(5)))
    gate = multiprocessing.Semaphore(1)
    with gate:
        queue = multiprocessing.Queue()
        queue.put("queue")
        print(queue.get())
    memory = shared_memory.SharedMemory(create=True, size=64)
    memory.buf[:5] = b"bytes"
    print(bytes(memory.buf[:5]))
    memory.close()
    memory.unlink()
    with multiprocessing.Manager() as manager:
        print(manager.list([1, 2]))
    print(subprocess.run(["sh", "-c", "echo child"], capture_output=True, text=True).stdout)
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    async def meet():
        server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        print(await reader.read())
        writer.close()
        server.close()
    asyncio.run(meet())
    print(socket.getaddrinfo("localhost", 80, socket.AF_INET, socket.SOCK_STREAM)[0][4])
    master, slave = pty.openpty()
    os.write(slave, b"terminal")
    print(os.read(master, 8))
    database = sqlite3.connect("py.db")
    print(database.execute("pragma journal_mode=wal").fetchone())
P
same "Python: threads, processes, semaphores, shared memory, a terminal" 'python3 -B trial.py'
rm -f py.db*

mkdir node
cat >node/package.json <<'J'
{ "name": "trial", "version": "1.0.0", "private": true,
  "scripts": { "pretest": "node -p 1", "test": "node --test" } }
J
cat >node/trial.test.js <<'J'
const test = require('node:test');
const assert = require('node:assert');
const http = require('node:http');
const fs = require('node:fs');
const { Worker } = require('node:worker_threads');
const { execFileSync, fork } = require('node:child_process');

test('a worker', async () => {
	const worker = new Worker('require("worker_threads").parentPort.postMessage(7)', { eval: true });
	assert.strictEqual(await new Promise((done) => worker.on('message', done)), 7);
});
test('a child', () => assert.strictEqual(execFileSync('echo', ['x']).toString(), 'x\n'));
test('a server on localhost', async () => {
	const server = http.createServer((q, a) => a.end('hello')).listen(0, '127.0.0.1');
	await new Promise((done) => server.on('listening', done));
	const body = await new Promise((done) => http.get({ port: server.address().port, host: '127.0.0.1' },
		(answer) => answer.on('data', (data) => done(data.toString()))));
	server.close();
	assert.strictEqual(body, 'hello');
});
test('a watched file', async () => {
	fs.writeFileSync('watched', '1');
	const seen = new Promise((done) => { const w = fs.watch('watched', () => { w.close(); done(); }); });
	fs.writeFileSync('watched', '2');
	await seen;
});
J
same "node and npm test, offline" '
	cd node && npm test --offline --no-update-notifier 2>&1 | grep "^# \(tests\|pass\|fail\)"'

same "perl: pipes, fork, its own tests" '
	mkdir -p t && printf "%s\n" "use Test::More tests => 2;" "ok 1;" "is \`echo x\`, qq(x\\n);" >t/a.t
	prove t 2>&1 | tail -n 1; rm -rf t'
same "tar, xz and links" '
	mkdir tree && echo x >tree/file && ln tree/file tree/hard && ln -s file tree/soft && mkfifo tree/pipe
	chmod 640 tree/file && tar -cJf tree.tar.xz tree && rm -rf tree && tar -xJf tree.tar.xz
	find tree -printf "%p %m %y %l\n" | sort; rm -rf tree tree.tar.xz'
same "sqlite3, with a journal in shared memory" '
	sqlite3 db "pragma journal_mode=wal; create table t(x); insert into t values (1);"
	sqlite3 db "select count(*) from t"; rm -f db*'
same "shells: /dev/stdout and /dev/stderr by their names" \
	'echo out >>/dev/stdout; sh -c "echo err >>/dev/stderr" 2>&1; echo tee | tee -a /dev/stdout >/dev/null'
same "shells: here-documents, process substitution, traps, limits" '
	bash -c "cat <(echo one) <<<two; trap \"echo bye\" EXIT; ulimit -n 64; ulimit -n; (exit 3) || echo \$?"'
same "tools: xargs -P, timeout, flock, mktemp, sort" '
	printf "3\n1\n2\n" | xargs -P 3 -n 1 echo | sort; timeout 5 flock lock echo locked
	f=$(mktemp) && echo x >"$f" && cat "$f" && rm "$f"; rm -f lock; id -u; getent passwd root | cut -d: -f1'
# git: what it does is in a copy, unless .git is named.
git init -q .
git config user.name n
git config user.email n@example.org
printf '%s\n' '*.o' prog >.gitignore
git add . && git commit -qm first
same "git: status, diff, log, grep, ls-files" '
	echo change >>main.c; git status --short; git diff --stat; git log --oneline; git grep -c pthread; git ls-files
	git archive HEAD | tar -t | head -n 2; git checkout-index -f --prefix=copy/ main.c; ls copy; rm -rf copy'
same "git commits, branches and merges, with --rw .git" '
	echo more >more && git add more && git commit -qm second && git checkout -qb side HEAD~1 && echo s >s && git add s &&
	git commit -qm third && git merge -q --no-edit main 2>/dev/null || git merge -q --no-edit master
	git rev-list --count HEAD; git stash -q 2>/dev/null; git gc -q' --rw .git
same "and with --overlay .git" '
	echo other >other && git add other && git commit -qm other && git log --format=%s -1' --overlay .git
is "which the host's repository does not have" "$(git log --all --format=%s | grep -cx other)" 0
git reset -q --hard && git clean -qfdx
head=$(git rev-parse HEAD)
exits "and plainly: stash, commit, branch, rebase, merge" 0 inside -- sh -ec '
	echo plain >plain && git add plain && git stash -q && test ! -e plain && git stash pop -q && git commit -qm plain
	git checkout -qb topic HEAD~1 && git commit -q --allow-empty -m topic && git rebase -q - && git checkout -q -
	git merge -q topic && test "$(git log --format=%s -1)" = topic && git reset -q --hard HEAD~2'
is "of which the user is told where it is" "$(cut -d, -f1 "$T/err")" \
	"fence-guard: what git did in $W/.git was not kept there"
is "the host's HEAD is where it was" "$(git rev-parse HEAD)" "$head"
