// An executor with a marker format of its own, cockpit-executor/v1: eight fields are as
// everywhere, the others are its plan, in its own spelling.
//
//   node cockpit.mjs create MARKER PID [DEEPER]   makes one; says what approves it
//   node cockpit.mjs check MARKER                 its status, and which fields were lost
//   node cockpit.mjs run MARKER COMMAND...        a whole attempt; says its last event
import fs from 'node:fs';

import { Attempt, put, readMarker, release } from './executor.mjs';

const ATTEMPT = 'cockpit_7';

// As another writer may spell them: spaces, escapes, exponents, four levels of objects,
// and by the names of fields of fence-marker/v1 something else.
const own = [
	'"plan" : { "steps": [ {"name":"b\\u00fcild"}, null ], "retries" : 3 }',
	'"note":"one \\/ two\\t\\ud83d\\ude00 \u00fc"',
	'"budget":1.50E+2',
	'"deep":{"two":{"three":{}}}',
	'"seq":"a word"',
	'"by":{"shift":"night"}',
	'"":[true,false,-0,9007199254740991]',
];

function create(path, pid, deeper) {
	const more = deeper ? ',"deeper":{"two":{"three":{"four":{}}}}' : '';
	const compose = ({ markerDev, markerIno, parentDev, parentIno }) =>
		`{ "attemptId":"${ATTEMPT}", ${own.join(' , ')},
		"supervisorPid":${pid},"status" : "active","format":"cockpit-executor/v1",
		"markerDev":"${markerDev}","markerIno":"${markerIno}",
		"parentDev":"${parentDev}","parentIno":"${parentIno}"${more} }`;
	return put(path, compose, fs.linkSync);
}

// It has no states to approve, only the file itself.
function approved(marker) {
	const { supervisorPid, markerDev, markerIno, parentDev, parentIno } = marker;
	return { supervisorPid, markerDev, markerIno, parentDev, parentIno };
}

function check(path) {
	const { marker, text } = readMarker(path);
	const lost = own.filter((member) => !text.includes(member));
	const mine = marker.format === 'cockpit-executor/v1' && marker.attemptId === ATTEMPT;
	return [mine ? marker.status : 'not mine', ...lost].join(' lost: ');
}

async function run(path, command) {
	const format = ['--format', 'cockpit-executor/v1'];
	const words = ['--attempt', ATTEMPT, '--marker', path, ...format, '--', ...command];
	const supervised = new Attempt(words);
	let last = await supervised.nextEvent();
	supervised.say({ release: approved(create(path, last.pid)) });
	for (let event; (event = await supervised.nextEvent()); ) last = event;
	return JSON.stringify(last);
}

const [verb, path, ...rest] = process.argv.slice(2);
const verbs = {
	create: () => JSON.stringify(approved(create(path, Number(rest[0]), rest[1]))),
	check: () => check(path),
	run: () => run(path, rest),
};
fs.writeSync(1, (await verbs[verb]()) + '\n');
