#!/usr/bin/env python3
"""An executor in Python: asks fence-supervisor for one attempt, and can believe its end.

  executor.py [--socket] [--early] MARKER ATTEMPT [SUPERVISOR OPTION...] -- COMMAND [ARG...]

The protocol's words are in fence-protocol(7), the marker's in fence-marker(5); nothing
but Python's own library is used. It prints each event as it comes, and at the end one
line with the supervisor's exit status and the marker as it read it. SIGTERM makes it
ask for the end (with two seconds of grace), SIGUSR1 makes it cancel through the marker.
--socket speaks over one socket instead of standard input and output; --early sends
release and terminate in one write, before anything can have started.
"""
import fcntl
import io
import json
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys

FORMAT = "fence-marker/v1"
MARKER_BYTES = 1024


# --- markers -------------------------------------------------------------------------


class NotAuthentic(Exception):
    """There is no marker of that name that could be believed."""


def identity_of(st, folder):
    """Which file in which folder: strings, since other languages' numbers are too short."""
    return {
        "markerDev": str(st.st_dev),
        "markerIno": str(st.st_ino),
        "parentDev": str(folder.st_dev),
        "parentIno": str(folder.st_ino),
    }


def put(path, fields, place):
    """Writes `fields` to a new file beside `path`, lets place(temporary, path) name it
    so, and makes sure of both. Returns the whole marker."""
    folder = os.path.dirname(path) or "."
    temporary = f"{folder}/.{os.path.basename(path)}.{os.getpid()}-{secrets.token_hex(8)}"
    fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        marker = dict(fields, nonce=secrets.token_hex(16))
        marker.update(identity_of(os.fstat(fd), os.lstat(folder)))
        line = json.dumps(marker, separators=(",", ":")).encode() + b"\n"
        if len(line) > MARKER_BYTES:
            raise ValueError(f"{path}: a marker of {len(line)} bytes")
        os.write(fd, line)  # a regular file takes a line whole, or fails
        os.fsync(fd)
        place(temporary, path)
    finally:
        os.close(fd)
        if os.path.lexists(temporary):
            os.unlink(temporary)
    folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(folder_fd)
    os.close(folder_fd)
    return marker


def create_marker(path, attempt, ready):
    """Fails when anything of that name is there: os.link never replaces."""
    fields = {
        "format": FORMAT,
        "attemptId": attempt,
        "supervisorPid": ready["pid"],
        "supervisorStart": ready.get("start"),
        "supervisorId": ready.get("id"),
        "bootId": ready.get("bootId"),
        "pidNs": ready.get("pidNs"),
        "host": ready.get("host"),
        "status": "active",
        "seq": 1,
        "by": "executor",
    }
    # What the supervisor does not know of itself is left out.
    fields = {name: value for name, value in fields.items() if value is not None}
    return put(path, fields, os.link)


def no_duplicates(pairs):
    if len(dict(pairs)) != len(pairs):
        raise NotAuthentic("a name comes twice")
    return dict(pairs)


def read_once(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise NotAuthentic(error.strerror) from error
    try:
        st = os.fstat(fd)
        if not stat.S_ISREG(st.st_mode) or st.st_size > MARKER_BYTES:
            raise NotAuthentic("no regular file of at most 1024 bytes")
        line = os.pread(fd, MARKER_BYTES + 1, 0)
        folder = os.lstat(os.path.dirname(path) or ".")
        marker = json.loads(line, object_pairs_hook=no_duplicates)
        named = os.lstat(path)
    except (ValueError, OSError) as error:
        raise NotAuthentic(str(error)) from error
    finally:
        os.close(fd)
    if len(line) != st.st_size or (named.st_dev, named.st_ino) != (st.st_dev, st.st_ino):
        raise NotAuthentic("it changed while it was read")
    said = {name: marker.get(name) for name in identity_of(st, folder)}
    if said != identity_of(st, folder):
        raise NotAuthentic("it says that it is another file")
    return marker


def read_marker(path):
    """Who meets a replacement half way looks again."""
    for _ in range(100):
        try:
            return read_once(path)
        except NotAuthentic as error:
            why = error
    raise why


def cancel_marker(path):
    """The request that needs no socket: any process may replace the marker by a cancelled
    one, under byte 0 of its lock, so that neither this nor the supervisor's is lost."""
    lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX, 1, 0)
        marker = read_marker(path)
        if marker["status"] in ("active", "terminating"):
            marker.update(status="cancelled", seq=marker["seq"] + 1, by="cancel")
            put(path, marker, os.rename)
    finally:
        os.close(lock)


# --- one attempt -----------------------------------------------------------------------


class Attempt:
    def __init__(self, words, over_socket=False, stderr=None):
        """Starts the supervisor and waits for its `ready`."""
        if over_socket:
            ours, theirs = socket.socketpair()
            with theirs:
                number = theirs.fileno()
                self.process = subprocess.Popen(
                    ["fence-supervisor", "--control-fd", str(number), *words],
                    pass_fds=[number],
                    stderr=stderr,
                )
            self.control = ours.makefile("wb", buffering=0)
            self.events = ours.makefile("rb")
            self.close = lambda: ours.shutdown(socket.SHUT_WR)
            self.stop_listening = lambda: ours.shutdown(socket.SHUT_RD)
        else:
            self.process = subprocess.Popen(
                ["fence-supervisor", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=stderr, bufsize=0,
            )
            self.control = self.process.stdin
            self.events = io.BufferedReader(self.process.stdout)
            self.close = self.control.close
            self.stop_listening = self.process.stdout.close
        self.ready = self.next_event()

    def next_event(self):
        """The next thing that the supervisor says; None: it has ended. A socket is reset,
        after the last event, when what we wrote was not read to the end."""
        try:
            line = self.events.readline()
        except ConnectionResetError:
            return None
        return json.loads(line) if line else None

    def say(self, *lines):
        self.write("".join(json.dumps(line) + "\n" for line in lines))

    def write(self, text):
        try:
            self.control.write(text.encode())
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has ended, and its last event says how


def release(marker):
    wanted = ("supervisorPid", "markerDev", "markerIno", "parentDev", "parentIno", "seq", "nonce")
    return {"release": {name: marker[name] for name in wanted}}


def terminate(grace):
    return {"terminate": {"grace": grace}}


def main(words):
    over_socket = "--socket" in words[:2]
    early = "--early" in words[:2]
    path, attempt, *words = [word for word in words if word not in ("--socket", "--early")]
    words = ["--attempt", attempt, "--marker", path, *words]

    supervised = Attempt(words, over_socket)
    marker = create_marker(path, attempt, supervised.ready)
    signal.signal(signal.SIGTERM, lambda *_: supervised.say(terminate("2s")))
    signal.signal(signal.SIGUSR1, lambda *_: cancel_marker(path))
    if early:
        supervised.say(release(marker), terminate("2s"))
    else:
        supervised.say(release(marker))
    print(json.dumps(supervised.ready), flush=True)
    while event := supervised.next_event():
        print(json.dumps(event), flush=True)
    status = supervised.process.wait()
    print(json.dumps({"exitStatus": status, "marker": read_marker(path)}))


if __name__ == "__main__":
    main(sys.argv[1:])
