"""Control lines of every shape, and executors that do not listen. For each shape one
attempt in FOLDER; prints its name, what was heard after `ready` (`rejected:malformed`
and the like), the exit status, and what the marker says at last.

  control.py FOLDER pipe|socket
"""
import json
import os
import subprocess
import sys
import threading
import time

from executor import Attempt, create_marker, read_marker, release

TERMINATE = b'{"terminate":{}}\n'
RELEASE = b"RELEASE"  # in a shape, the line that is right
DEAF = ["--", "sh", "-c", 'trap "" TERM; echo up >"$0"; exec sleep 100']


def padded(line, total_bytes):
    """With so many spaces in front that it has this length with its newline."""
    return lambda right: line.replace(RELEASE, right).rjust(total_bytes, b" ")


def grace(value):
    return b'{"terminate":{"grace":%s}}\n' % value


ODD_GRACES = (b"5", b'"-1s"', b'"5 s"', b'""', b'"1e9s"', b'"99999999999999999999s"', b"null")

FLOOD = ["--timeout", "500ms", "--", "sh", "-c", "while :; do echo $0 >&2; done", "x" * 60]

# The steps of each: after which event, which bytes. None: our side is closed.
SHAPES = {
    "4095 bytes": [("ready", padded(RELEASE + b"\n", 4095)), ("started", TERMINATE)],
    "4096 bytes": [("ready", padded(RELEASE + b"\n", 4096)), ("started", TERMINATE)],
    "4097 bytes": [("ready", padded(RELEASE + b"\n", 4097))],
    "4096 bytes later": [("ready", RELEASE + b"\n"), ("started", padded(TERMINATE, 4096))],
    "4097 bytes later": [
        ("ready", RELEASE + b"\n"),
        ("started", padded(TERMINATE, 4097)),
        ("rejected", TERMINATE),
    ],
    "200000 bytes later": [
        ("ready", RELEASE + b"\n"),
        ("started", b"x" * 100000),
        ("rejected", b"y" * 100000 + b"\n" + TERMINATE),
    ],
    "NUL before": [("ready", b"\0" + RELEASE + b"\n")],
    "NUL behind": [("ready", RELEASE + b"\0\n")],
    "NUL later": [("ready", RELEASE + b"\n"), ("started", b"\0\n" + TERMINATE)],
    "CRLF": [("ready", RELEASE + b"\r\n"), ("started", TERMINATE.replace(b"\n", b"\r\n"))],
    "empty line": [("ready", b"\n" + RELEASE + b"\n")],
    "empty lines later": [("ready", RELEASE + b"\n"), ("started", b"\n \n" + TERMINATE)],
    "byte order mark": [("ready", b"\xef\xbb\xbf" + RELEASE + b"\n")],
    "two values": [("ready", RELEASE + b" " + RELEASE + b"\n")],
    "two members": [("ready", b'{"terminate":{},"release":{}}\n')],
    "no UTF-8": [("ready", RELEASE + b"\n"), ("started", b'{"\xff":{}}\n' + TERMINATE)],
    "deep": [("ready", RELEASE + b"\n"), ("started", b"[" * 4000 + b"\n" + TERMINATE)],
    "odd graces": [
        ("ready", RELEASE + b"\n"),
        ("started", b"".join(map(grace, ODD_GRACES)) + TERMINATE),
    ],
    "released twice": [("ready", (RELEASE + b"\n") * 2), ("rejected", TERMINATE)],
    "terminate behind the release": [("ready", RELEASE + b"\n" + TERMINATE)],
    "many in one write": [
        ("ready", RELEASE + b"\n"),
        ("started", b"?\n" * 9 + TERMINATE + b"?\n" + TERMINATE),
    ],
    "the end behind the release": [("ready", RELEASE + b"\n"), ("ready", None)],
    "the end in a line": [
        ("ready", RELEASE + b"\n"),
        ("started", TERMINATE[:-1]),
        ("started", None),
    ],
}


def heard(event):
    word = event.get("reason") or event.get("cause") or event.get("result", {}).get("cause")
    return f"{event['event']}:{word}" if word else event["event"]


class Conversation:
    def __init__(self, path, over_socket, command=("--", "sleep", "100"), stderr=None):
        # What was not understood must not keep the test: a time-out is not what is wanted.
        words = ["--attempt", "a.1", "--marker", path, "--grace", "20s", "--timeout", "25s"]
        words += command
        self.path = path
        self.supervised = Attempt(words, over_socket, stderr)
        self.last = self.supervised.ready
        marker = create_marker(path, "a.1", self.last)
        self.right = json.dumps(release(marker)).encode()
        self.said = []

    def listen(self, name=None):
        """To an event, the last one again, or to all that come."""
        while self.last and self.last["event"] != name:
            self.last = self.supervised.next_event()
            if self.last:
                self.said.append(heard(self.last))

    def write(self, text):
        try:
            while text:
                text = text[self.supervised.control.write(text) :]
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has ended; what it said is heard all the same

    def say(self, text):
        if text is None:
            self.supervised.close()
        else:
            right = self.right
            self.write(text(right) if callable(text) else text.replace(RELEASE, right))

    def outcome(self):
        self.listen()
        status = self.supervised.process.wait()
        marker = read_marker(self.path)
        cause = marker.get("result", {}).get("cause", "-")
        return " ".join([*self.said, str(status), marker["status"], cause])


def shape(path, over_socket, steps):
    talk = Conversation(path, over_socket)
    for name, text in steps:
        talk.listen(name)
        talk.say(text)
    return talk.outcome()


def byte_by_byte(path, over_socket):
    talk = Conversation(path, over_socket)
    for byte in talk.right + b"\n":
        talk.write(bytes([byte]))
    talk.listen("started")
    for byte in grace(b'"1s"'):
        talk.write(bytes([byte]))
    return talk.outcome()


def second_request(path, over_socket, in_one_write):
    """A command that ignores TERM, with a grace of 20 s: the second request is KILL."""
    talk = Conversation(path, over_socket, [*DEAF, path + ".up"])
    talk.say(RELEASE + b"\n")
    while not os.path.exists(path + ".up"):
        time.sleep(0.005)
    began = time.monotonic()
    talk.say(TERMINATE * (2 if in_one_write else 1))
    if not in_one_write:
        talk.listen("terminating")
        talk.say(TERMINATE)
    outcome = talk.outcome()
    return outcome + (" late" if time.monotonic() - began > 10 else "")


def never_reads(path, over_socket):
    """So many rejected lines that their events fill what lies between us."""
    talk = Conversation(path, over_socket)
    talk.say(RELEASE + b"\n")
    began = time.monotonic()
    talk.write(b"?\n" * 5000 + TERMINATE)
    status = talk.supervised.process.wait()
    marker = read_marker(path)
    late = time.monotonic() - began > 15
    return f"{status} {marker['status']} {marker['result']['cause']}{' late' if late else ''}"


def stopped_reading(path, over_socket):
    talk = Conversation(path, over_socket)
    talk.say(RELEASE + b"\n")
    talk.listen("started")
    talk.supervised.stop_listening()
    talk.last = None
    talk.write(b"?\n" * 100 + TERMINATE)
    return talk.outcome()


def full_standard_error(path, over_socket):
    """It is a pipe that nobody reads, and the command filled it."""
    talk = Conversation(path, over_socket, FLOOD, stderr=subprocess.PIPE)
    talk.say(RELEASE + b"\n")
    return talk.outcome()


OTHERS = {
    "byte by byte": byte_by_byte,
    "second request": lambda path, way: second_request(path, way, False),
    "both requests in one write": lambda path, way: second_request(path, way, True),
    "never reads": never_reads,
    "stopped reading": stopped_reading,
    "full standard error": full_standard_error,
}


def main(folder, way):
    over_socket = way == "socket"
    results = {}

    def run(name, act):
        results[name] = act(f"{folder}/{name}", over_socket)

    slow = threading.Thread(target=run, args=("never reads", never_reads))
    slow.start()
    for name, steps in SHAPES.items():
        run(name, lambda path, socket_too: shape(path, socket_too, steps))
    for name, act in OTHERS.items():
        if act is not never_reads:
            run(name, act)
    slow.join()
    for name, result in results.items():
        print(f"{name}: {result}")


if __name__ == "__main__":
    main(*sys.argv[1:])
