// An executor in Node: asks fence-supervisor for one attempt, and can believe its end.
//
//   node executor.mjs [--socket] [--early] MARKER ATTEMPT [SUPERVISOR OPTION...] -- COMMAND [ARG...]
//
// The protocol's words are in fence-protocol(7), the marker's in fence-marker(5); nothing
// but Node's own modules is used. It prints each event as it comes, and at the end one
// line with the supervisor's exit status and the marker as it read it. SIGTERM makes it
// ask for the end (with two seconds of grace), SIGUSR1 makes it cancel through the marker.
// --socket speaks over one socket instead of standard input and output; --early sends
// release and terminate in one write, before anything can have started.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MARKER_BYTES = 1024;
const { O_CREAT, O_EXCL, O_WRONLY, O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;

// --- markers -------------------------------------------------------------------------

// Which file in which folder. BigInt, since an inode's number may exceed 2^53, and then
// strings, since JSON's numbers may not.
export function identityOf(stat, folder) {
	return {
		markerDev: String(stat.dev),
		markerIno: String(stat.ino),
		parentDev: String(folder.dev),
		parentIno: String(folder.ino),
	};
}

// Writes the text that compose(identity) returns to a new file beside `path`, lets
// place(temporary, path) name it so, and makes sure of both. Returns the marker.
export function put(path, compose, place) {
	const folder = dirname(path);
	const name = `.${basename(path)}.${process.pid}-${randomBytes(8).toString('hex')}`;
	const temporary = `${folder}/${name}`;
	const fd = fs.openSync(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
	let line;
	try {
		const stat = fs.fstatSync(fd, { bigint: true });
		const folderStat = fs.lstatSync(folder, { bigint: true });
		line = Buffer.from(compose(identityOf(stat, folderStat)) + '\n');
		if (line.length > MARKER_BYTES)
			throw new RangeError(`${path}: a marker of ${line.length} bytes`);
		fs.writeSync(fd, line); // a regular file takes a line whole, or fails
		fs.fsyncSync(fd);
		place(temporary, path);
	} finally {
		fs.closeSync(fd);
		fs.rmSync(temporary, { force: true });
	}
	const folderFd = fs.openSync(folder, O_RDONLY);
	fs.fsyncSync(folderFd);
	fs.closeSync(folderFd);
	return JSON.parse(line);
}

const nonce = () => randomBytes(16).toString('hex');

// Fails when anything of that name is there: linkSync never replaces.
export function createMarker(path, attemptId, ready) {
	const marker = {
		format: 'fence-marker/v1',
		attemptId,
		supervisorPid: ready.pid,
		supervisorStart: ready.start,
		supervisorId: ready.id, // undefined members are left out
		bootId: ready.bootId,
		pidNs: ready.pidNs,
		host: ready.host,
		status: 'active',
		seq: 1,
		nonce: nonce(),
		by: 'executor',
	};
	return put(path, (identity) => JSON.stringify({ ...marker, ...identity }), fs.linkSync);
}

class NotAuthentic extends Error {}

function readOnce(path) {
	const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	try {
		const stat = fs.fstatSync(fd, { bigint: true });
		if (!stat.isFile() || stat.size > MARKER_BYTES)
			throw new NotAuthentic('no regular file of at most 1024 bytes');
		const bytes = Buffer.alloc(MARKER_BYTES + 1);
		const length = fs.readSync(fd, bytes, 0, bytes.length, 0);
		const folder = fs.lstatSync(dirname(path), { bigint: true });
		const named = fs.lstatSync(path, { bigint: true });
		if (BigInt(length) !== stat.size || named.dev !== stat.dev || named.ino !== stat.ino)
			throw new NotAuthentic('it changed while it was read');
		const text = bytes.toString('utf8', 0, length);
		const marker = JSON.parse(text);
		for (const [name, value] of Object.entries(identityOf(stat, folder)))
			if (marker[name] !== value)
				throw new NotAuthentic('it says that it is another file');
		return { marker, text };
	} finally {
		fs.closeSync(fd);
	}
}

// Who meets a replacement half way looks again.
export function readMarker(path) {
	for (let look = 1; ; look++) {
		try {
			return readOnce(path);
		} catch (error) {
			if (look === 100) throw error;
		}
	}
}

// The request that needs no socket: any process may replace the marker by a cancelled
// one. Node has no record locks, so this writer knows nothing of MARKER.lock: between its
// look and its rename it may undo a replacement of the supervisor's, or the supervisor
// one of its own, in a moment of some microseconds. `fence-marker cancel` does the same
// under the lock.
export function cancelMarker(path) {
	const old = readMarker(path).marker;
	if (old.status !== 'active' && old.status !== 'terminating') return;
	const news = { status: 'cancelled', seq: old.seq + 1, nonce: nonce(), by: 'cancel' };
	const compose = (identity) => JSON.stringify({ ...old, ...news, ...identity });
	put(path, compose, fs.renameSync);
}

// --- one attempt -----------------------------------------------------------------------

export class Attempt {
	constructor(words, overSocket) {
		// What Node calls a pipe is a UNIX socket: number 3 carries both directions.
		const stdio = overSocket
			? ['inherit', 'inherit', 'inherit', 'pipe']
			: ['pipe', 'pipe', 'inherit'];
		const options = overSocket ? ['--control-fd', '3'] : [];
		this.process = spawn('fence-supervisor', [...options, ...words], { stdio });
		this.control = overSocket ? this.process.stdio[3] : this.process.stdin;
		this.control.on('error', () => {}); // it has ended, and its last event says how
		const input = overSocket ? this.control : this.process.stdout;
		this.lines = createInterface({ input })[Symbol.asyncIterator]();
		this.ended = new Promise((resolve) => this.process.on('close', resolve));
	}

	// The next thing that the supervisor says; undefined: it has ended. One socket for both
	// directions breaks when we write to a supervisor that is ending: it is reset, or Node
	// gives it up, and then its last event may be lost. The marker has it all the same.
	async nextEvent() {
		const { value } = await this.lines.next().catch((error) => {
			if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return {};
			throw error;
		});
		return value === undefined ? undefined : JSON.parse(value);
	}

	say(...lines) {
		this.write(lines.map((line) => JSON.stringify(line) + '\n').join(''));
	}

	write(text) {
		this.control.write(text);
	}

	close() {
		this.control.end();
	}
}

export function release(marker) {
	const { supervisorPid, markerDev, markerIno, parentDev, parentIno, seq, nonce } = marker;
	return { release: { supervisorPid, markerDev, markerIno, parentDev, parentIno, seq, nonce } };
}

export const terminate = (grace) => ({ terminate: { grace } });

const print = (value) => fs.writeSync(1, JSON.stringify(value) + '\n');

async function main(args) {
	const flags = new Set();
	while (args[0] === '--socket' || args[0] === '--early') flags.add(args.shift());
	const [path, attempt, ...rest] = args;
	const words = ['--attempt', attempt, '--marker', path, ...rest];

	const supervised = new Attempt(words, flags.has('--socket'));
	const ready = await supervised.nextEvent();
	print(ready);
	const marker = createMarker(path, attempt, ready);
	process.on('SIGTERM', () => supervised.say(terminate('2s')));
	process.on('SIGUSR1', () => cancelMarker(path));
	if (flags.has('--early')) supervised.say(release(marker), terminate('2s'));
	else supervised.say(release(marker));
	for (let event; (event = await supervised.nextEvent()); ) print(event);
	print({ exitStatus: await supervised.ended, marker: readMarker(path).marker });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
