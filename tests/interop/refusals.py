"""Everything that an executor can get wrong before the start, from Python: one attempt
for each fault in FOLDER. Prints a line for each: FAULT REASON EXIT-STATUS ran|idle.

  refusals.py FOLDER pipe|socket
"""
import json
import os
import shutil
import sys

from executor import Attempt, cancel_marker, create_marker, release


def released(change):
    """A release of a good marker, with what `change` does to its members."""

    def act(supervised, path, marker):
        line = release(marker)
        change(line["release"])
        supervised.say(line)

    return act


def raw(text):
    def act(supervised, path, marker):
        supervised.write(text.replace("RELEASE", json.dumps(release(marker))))

    return act


def cancelled(supervised, path, marker):
    cancel_marker(path)
    supervised.say(release(marker))


def copied(supervised, path, marker):
    shutil.copy(path, path + ".copy")
    os.rename(path + ".copy", path)
    supervised.say(release(marker))


def removed(supervised, path, marker):
    os.unlink(path)
    supervised.say(release(marker))


def half(supervised, path, marker):
    supervised.write(json.dumps(release(marker)))
    supervised.close()


FAULTS = {
    "none": released(lambda members: None),
    "wrong-inode": released(lambda members: members.update(markerIno="1")),
    "wrong-folder": released(lambda members: members.update(parentIno="1")),
    "wrong-state": released(lambda members: members.update(seq=9)),
    "wrong-supervisor": released(lambda members: members.update(supervisorPid=1)),
    "other-attempt": released(lambda members: None),
    "cancelled": cancelled,
    "copied": copied,
    "removed": removed,
    "end-of-input": lambda supervised, path, marker: supervised.close(),
    "release-timeout": lambda supervised, path, marker: None,
    "numbers": released(lambda members: members.update(markerIno=int(members["markerIno"]))),
    "missing": released(lambda members: members.pop("parentDev")),
    "unknown-word": raw('{"start":{}}\n'),
    "doubled": raw('{"release":{},"release":{}}\n'),
    "not-json": raw("release, please\n"),
    "empty": raw("\nRELEASE\n"),
    "half": half,
    "too-long": raw(" " * 4096 + "RELEASE\n"),
    "terminate-first": raw('{"terminate":{}}\nRELEASE\n'),
}


def attempt(folder, way, fault):
    path = f"{folder}/{fault}.json"
    witness = f"{folder}/{fault}.ran"
    words = ["--attempt", "a.1", "--marker", path]
    if fault == "release-timeout":
        words += ["--release-timeout", "100ms"]
    supervised = Attempt(words + ["--", "touch", witness], way == "socket")
    name = "a.2" if fault == "other-attempt" else "a.1"
    FAULTS[fault](supervised, path, create_marker(path, name, supervised.ready))
    event = supervised.ready
    last = event
    while event := supervised.next_event():
        last = event
    status = supervised.process.wait()
    reason = last.get("reason", last["event"])
    print(fault, reason, status, "ran" if os.path.exists(witness) else "idle", flush=True)


if __name__ == "__main__":
    for each in FAULTS:
        attempt(*sys.argv[1:], each)
