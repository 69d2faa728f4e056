// Everything that an executor can get wrong before the start, from Node: one attempt for
// each fault in FOLDER. Prints a line for each: FAULT REASON EXIT-STATUS ran|idle.
//
//   node refusals.mjs FOLDER pipe|socket
import fs from 'node:fs';

import { Attempt, cancelMarker, createMarker, release } from './executor.mjs';

// A release of a good marker, with what `change` does to its members.
const released = (change) => (supervised, path, marker) => {
	const line = release(marker);
	change(line.release);
	supervised.say(line);
};

const raw = (text) => (supervised, path, marker) =>
	supervised.write(text.replace('RELEASE', JSON.stringify(release(marker))));

const faults = {
	none: released(() => {}),
	'wrong-inode': released((members) => (members.markerIno = '1')),
	'wrong-folder': released((members) => (members.parentIno = '1')),
	'wrong-state': released((members) => (members.seq = 9)),
	'wrong-supervisor': released((members) => (members.supervisorPid = 1)),
	'other-attempt': released(() => {}),
	cancelled: (supervised, path, marker) => {
		cancelMarker(path);
		supervised.say(release(marker));
	},
	copied: (supervised, path, marker) => {
		fs.copyFileSync(path, `${path}.copy`);
		fs.renameSync(`${path}.copy`, path);
		supervised.say(release(marker));
	},
	removed: (supervised, path, marker) => {
		fs.unlinkSync(path);
		supervised.say(release(marker));
	},
	'end-of-input': (supervised) => supervised.close(),
	'release-timeout': () => {},
	numbers: released((members) => (members.markerIno = Number(members.markerIno))),
	missing: released((members) => delete members.parentDev),
	'unknown-word': raw('{"start":{}}\n'),
	doubled: raw('{"release":{},"release":{}}\n'),
	'not-json': raw('release, please\n'),
	empty: raw('\nRELEASE\n'),
	half: (supervised, path, marker) => {
		supervised.write(JSON.stringify(release(marker)));
		supervised.close();
	},
	'too-long': raw(' '.repeat(4096) + 'RELEASE\n'),
	'terminate-first': raw('{"terminate":{}}\nRELEASE\n'),
};

async function attempt(folder, way, fault) {
	const path = `${folder}/${fault}.json`;
	const witness = `${folder}/${fault}.ran`;
	const words = ['--attempt', 'a.1', '--marker', path];
	if (fault === 'release-timeout') words.push('--release-timeout', '100ms');
	const supervised = new Attempt([...words, '--', 'touch', witness], way === 'socket');
	const name = fault === 'other-attempt' ? 'a.2' : 'a.1';
	let last = await supervised.nextEvent();
	faults[fault](supervised, path, createMarker(path, name, last));
	for (let event; (event = await supervised.nextEvent()); ) last = event;
	const status = await supervised.ended;
	const ran = fs.existsSync(witness) ? 'ran' : 'idle';
	fs.writeSync(1, `${fault} ${last.reason ?? last.event} ${status} ${ran}\n`);
}

for (const fault of Object.keys(faults)) await attempt(...process.argv.slice(2), fault);
