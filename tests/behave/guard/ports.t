#!/bin/sh
# --net ports: of the host's network, the TCP ports that are named; nothing leads around.
. "$(dirname "$0")/guard.sh"

mkfifo "$T/hold"
guard_port serve <"$T/hold" >"$T/open" &
guard_port serve <"$T/hold" >"$T/shut" &
guard_port serve <"$T/hold" >"$T/free" &
exec 9>"$T/hold"
await file "$T/open" && await file "$T/shut" && await file "$T/free"
open=$(cat "$T/open")
shut=$(cat "$T/shut")
# A port that nobody listens on: the third server gives it back.
free=$(cat "$T/free")

for way in v4 v6 mapped; do
	is "control: outside $way reaches both" "$(guard_port $way "$open")$(guard_port $way "$shut")" okok
	says "$way reaches the port that is named" ok --net ports:"$open" -- guard_port $way "$open"
	says "$way reaches no other" EACCES --net ports:"$open" -- guard_port $way "$shut"
done
says "a range is all of it" ok --net ports:1,"$open-$open" -- guard_port v4 "$open"
says "several are each of them" ok --net ports:1-9,"$open,$shut" -- guard_port v4 "$shut"
says "the last --net holds" EACCES --net host --net ports:"$shut" --net ports:"$open" -- guard_port v4 "$shut"
is "it is the host's network" "$(guard --net ports:"$open" -- readlink /proc/self/ns/net)" "$(readlink /proc/self/ns/net)"

is "control: a socket that was connected can be connected elsewhere" "$(guard_port again "$open" "$shut")" ok
says "but not to another port" EACCES --net ports:"$open" -- guard_port again "$open" "$shut"
says "nor by connecting late" EACCES --net ports:"$open" -- guard_port open4 "$shut"
says "which works for the port that is named" ok --net ports:"$open" -- guard_port open4 "$open"
says "and sends to nothing but that" "$open" --net ports:"$open" -- guard_port defer "$open" "$shut"
for call in sendto sendmsg sendmmsg; do
	is "control: outside $call connects, or the kernel has it off" \
		"$(guard_port $call "$shut" | sed 's/EOPNOTSUPP/ok/;s/EINPROGRESS/ok/')" ok
	says "$call does not" EOPNOTSUPP --net ports:"$open" -- guard_port $call "$shut"
	says "nor to the port that is named: connect first" EOPNOTSUPP --net ports:"$open" -- guard_port $call "$open"
	says "without the flag it is the usual call" EPIPE --net ports:"$open" -- guard_port $call "$shut" 0
done

# What outside may be ENOTCONN, for TLS comes when there is a connection.
for layer in smc tls mptcp none; do
	says "a socket gets no upper layer $layer" ENOENT --net ports:"$open" -- guard_port layer $layer
done
guard --explain-fd 5 --net ports:"$open" -- guard_port v4 "$shut" >"$T/out" 5>"$T/told"
is "--explain changes no answer" "$(cat "$T/out")" EACCES
like "and names the port and what refused it" "$(cat "$T/told")" "*connect 127.0.0.1:$shut*EACCES*landlock*network ports*"

# family type protocol: IPv4 is 2, IPv6 10
is "control: outside there is UDP" "$(guard_port socket 2 2 17)" ok
for kind in "2 1 0" "2 1 6" "10 1 0" "1 1 0" "1 2 0" "16 3 0"; do
	says "socket $kind can be made" ok --net ports:"$open" -- guard_port socket $kind
done
# UDP, ping, UDP-Lite, MPTCP, SCTP, SMC, raw, DCCP
for kind in "2 2 0" "2 2 17" "10 2 17" "2 2 1" "10 2 58" "2 2 136" "2 1 262" "10 1 262" "2 1 132" \
	"2 5 132" "2 1 256" "2 3 6" "10 3 255" "2 6 33"; do
	says "socket $kind cannot" EPROTONOSUPPORT --net ports:"$open" -- guard_port socket $kind
done
for kind in "43 1 0" "17 3 0" "40 1 0" "30 1 0"; do
	says "nor another family, $kind" EAFNOSUPPORT --net ports:"$open" -- guard_port socket $kind
done

says "nothing is listened on unless it is named" EACCES --net ports:"$open" -- guard_port bind4 0
says "nor by a port that may be connected to" EACCES --net ports:"$free" -- guard_port bind4 "$free"
says "nor without a port" EACCES --net ports:"$open" -- guard_port unbound
says "not even on a UNIX socket: nobody can tell them apart there" EACCES --net ports:"$open" -- guard_port unix
is "control: outside the kernel binds who listens" "$(guard_port unbound)" ok
guard --explain-fd 5 --net ports:"$open" -- guard_port unbound >"$T/out" 5>"$T/told"
is "which --explain does not change" "$(cat "$T/out")" EACCES
is "but tells of, with the rule" "$(sed 's/^.*) //' "$T/told")" "listen: EACCES by seccomp: network ports"
exec 9>&-
wait
is "control: the port is free now, outside" "$(guard_port bind4 "$free")$(guard_port bind6 "$free")" okok
for way in bind4 bind6 unspec; do
	says "$way listens on a port that is named" ok --net ports:bind:"$free" -- guard_port $way "$free"
	says "$way listens on no other" EACCES --net ports:bind:"$free" -- guard_port $way "$open"
	says "$way does not get one from the kernel" EACCES --net ports:bind:"$free" -- guard_port $way 0
	says "$way does with bind:0" ok --net ports:bind:0 -- guard_port $way 0
done
says "with a port to listen on a UNIX socket may" ok --net ports:bind:"$free" -- guard_port unix
says "who may listen may not connect for that" EACCES --net ports:bind:"$free" -- guard_port v4 "$free"
says "a listening socket that is handed over is the caller's grant" ok \
	--net ports:bind:"$free" -- guard_port bind4 "$free"
is "and needs no port" "$(guard_port hold 7 fence-guard exec --ro "$FENCE_BUILD" --keep-fd 7 --net ports:1 -- guard_port accept 7)" ok
says "user namespaces change nothing" EACCES --allow-userns --net ports:"$open" -- \
	unshare -U guard_port v4 "$shut"

# --- the record, and what is no list of ports --------------------------------------------
guard --net ports:443,8000-8010,bind:0,bind:8080 --status-fd 5 -- true 5>"$T/record"
is "the record has them" "$(jq -c 'select(.event == "exec") | [.network, .ports]' "$T/record")" \
	'["ports",{"connect":[{"first":443,"last":443},{"first":8000,"last":8010}],"bind":[{"first":0,"last":0},{"first":8080,"last":8080}]}]'
is "by its schema" "$(jq -r --slurpfile schema "$SRC/schemas/fence-guard-status-v1.json" \
	-f "$SRC/tests/lib/schema.jq" "$T/record" 2>&1)" ""
# wrong SPEC WORDS
wrong() {
	rm -f ran
	guard --net "$1" -- sh -c ': >ran' 2>"$T/err"
	is "--net $1: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
	like "in words" "$(cat "$T/err")" "fence-guard: --net $1: $2; *"
}
wrong ports: "a port is a number from 1 to 65535"
wrong ports:0 "a port is a number from 1 to 65535"
wrong ports:65536 "a port is a number from 1 to 65535"
wrong ports:0443 "a port is a number from 1 to 65535"
wrong ports:https "a port is a number from 1 to 65535"
wrong ports:443, "a port is a number from 1 to 65535"
wrong ports:bind: "a port is a number from 1 to 65535"
wrong ports:bind:0-9 "a port is a number from 1 to 65535"
wrong ports:9-1 "the range of ports ends before it begins"
wrong ports:1-65535 "more than 4096 ports"
wrong ports:443/udp "after a port comes a comma or nothing"
wrong port:443 "it is none, host or ports:PORTS"
exits "profile none has no ports" 125 guard --profile none --net ports:443 -- true

# --- where the kernel has none -------------------------------------------------------------
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
rm -f ran
guard_filter no-landlock fence-guard exec --net ports:443 --status-fd 5 -- sh -c ': >ran' 5>"$T/record" 2>"$T/err"
is "without Landlock: refused, and nothing is run" "$?/$(ls ran 2>/dev/null)" 125/
like "in words" "$(cat "$T/err")" "fence-guard: limit TCP ports with Landlock: *Landlock*"
is "the record has the stage" "$(jq -r '.event + " " + .stage' "$T/record")" "failure landlock"
done_testing
