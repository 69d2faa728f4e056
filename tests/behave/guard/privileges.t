#!/bin/sh
# No capability, no way to get one.
. "$(dirname "$0")/guard.sh"

field() {
	guard -- sed -n "s/^$1:[[:space:]]*//p" /proc/self/status
}
for set in CapInh CapPrm CapEff CapAmb; do
	is "$set is empty" "$(field $set)" 0000000000000000
done
says "uid 0 is locked to be a user as any other for execve" 0xcf -- guard_try securebits
says "which cannot be undone" EPERM -- guard_try call 157 28 0
says "nor a capability be made inheritable" EPERM -- guard_try inherit 21
is "no_new_privs is set" "$(field NoNewPrivs)" 1
is "a filter is installed" "$(field Seccomp)" 2
is "the user is who called" "$(guard -- id -u)" "$(id -u)"
is "and the group" "$(guard -- id -g)" "$(id -g)"

if [ "$ROOT" = yes ]; then
	# All ways that execve(2) has to give capabilities: to uid 0, from the file, from a set.
	cp "$(command -v sed)" capable
	ok "control: a file has capabilities" guard_try setfcap capable 21
	is "control: which a user gets outside" "$(setpriv --reuid=65534 --regid=65534 --clear-groups \
		--bounding-set +all ./capable -n 's/^CapEff:\t//p' /proc/self/status)" 0000000000200000
	is "and nobody inside" "$(guard -- ./capable -n 's/^CapPrm:\t//p' /proc/self/status)" 0000000000000000
	is "nor a shell's shell of uid 0" "$(guard -- sh -c 'sh -c "sed -n s/^CapPrm:.//p /proc/self/status"')" \
		0000000000000000
	cp "$(command -v id)" id
	chown 1:1 id
	chmod 6755 id
	is "control: a setuid program changes its user outside" "$(./id -u)" 1
	is "and not inside" "$(guard -- ./id -u)" 0
	says "root cannot become another" EPERM -- guard_try setuid 65534
	says "unless it keeps what that takes" ok --keep-cap setuid -- guard_try setuid 65534
	says "profile chromium does" ok --profile chromium -- guard_try setuid 65534
	is "and keeps nothing else" "$(guard --profile chromium -- sed -n 's/^CapEff:\t//p' /proc/self/status)" 00000000000000eb
	says "uid 0 cannot write the machine's settings" EROFS -- guard_try write /proc/sys/kernel/core_pattern
	says "not in profile chromium either" EROFS --profile chromium -- guard_try write /proc/sys/kernel/core_pattern
	says "nor empty its caches" EROFS --profile chromium -- guard_try write /proc/sys/vm/drop_caches
	# Without CAP_SYS_ADMIN it takes a user namespace, in which uid 0 is still the host's.
	lesser="setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin"
	is "control: less than root can write them outside" "$($lesser guard_try write /proc/sys/kernel/core_pattern)" ok
	for profile in gate chromium; do
		is "and not inside, profile $profile" "$($lesser fence-guard exec --ro "$FENCE_BUILD" --profile $profile -- \
			guard_try write /proc/sys/kernel/core_pattern)" EROFS
	done
else
	says "a user's setuid programs gain nothing" "$(id -u)" -- sh -c 'su -c "id -u" root </dev/null 2>/dev/null || id -u'
	says "the machine's settings are root's" EACCES -- guard_try write /proc/sys/kernel/core_pattern
fi
exits "pid 1 cannot be looked into" 0 guard -- sh -c '! ls -l /proc/1/fd >/dev/null 2>&1'
exits "an unknown capability is refused" 125 guard --keep-cap everything -- true
done_testing
