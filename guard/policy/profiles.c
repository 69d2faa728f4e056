#include <linux/capability.h>
#include <string.h>

#include "guard/policy/policy.h"

#define CAP(name) (UINT64_C(1) << CAP_##name)

/* What fence-chromium needs as root: become another user, give that user its
 * private folder, end its processes and clean up after it. */
#define CHROMIUM_CAPS                                                                              \
	(CAP(SETUID) | CAP(SETGID) | CAP(CHOWN) | CAP(KILL) | CAP(DAC_OVERRIDE) | CAP(FOWNER))

static const struct guard_profile profiles[] = {
	{ .name = "gate", .confine = true, .private_git = true, .net = GUARD_NET_NONE },
	{ .name = "chromium",
	  .confine = true,
	  .private_git = true,
	  .net = GUARD_NET_NONE,
	  .allow_userns = true,
	  .keep_caps = CHROMIUM_CAPS },
	{ .name = "evaluator", .confine = true, .read_only_cwd = true, .net = GUARD_NET_NONE },
	{ .name = "landlock", .confine = true, .narrow = true, .net = GUARD_NET_NONE },
	{ .name = "none", .net = GUARD_NET_HOST },
};

const struct guard_profile *guard_profile_find(const char *name)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return &profiles[i];
	return NULL;
}

size_t guard_profile_names(const char *ret[GUARD_PROFILES_MAX])
{
	size_t count = sizeof(profiles) / sizeof(profiles[0]);

	_Static_assert(sizeof(profiles) / sizeof(profiles[0]) <= GUARD_PROFILES_MAX, "room");
	for (size_t i = 0; i < count; i++)
		ret[i] = profiles[i].name;
	return count;
}

/* Registrations that make somebody else's program run code later, and the records of
 * fence-gate: whoever may write the project must still not be able to write these. */
const char *const guard_protected_in_root[] = {
	".claude/settings.json",
	".claude/settings.local.json",
	".codex",
	".gemini/settings.json",
	".cursor/hooks.json",
	"opencode.json",
	".fence",
	NULL,
};

const char *const guard_protected_in_git[] = {
	"hooks", "config", "config.worktree", "commondir", NULL,
};

const char *const guard_protected_in_home[] = {
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile",
	".zshrc",  ".zshenv",	    ".zprofile",   ".zlogin",	   ".config/fish/config.fish",
	".kshrc",  ".cshrc",	    ".tcshrc",	   ".gitconfig",   ".config/git/config",
	NULL,
};

const char *const guard_masked_in_home[] = {
	".ssh",
	".gnupg",
	".aws",
	".azure",
	".config/gcloud",
	".kube",
	".docker/config.json",
	".netrc",
	".npmrc",
	".pypirc",
	".git-credentials",
	NULL,
};

const char *const guard_masked_secrets[] = {
	"/etc/shadow",	 "/etc/shadow-",	  "/etc/gshadow",
	"/etc/gshadow-", "/etc/security/opasswd", NULL,
};

/* Sockets behind which somebody with more rights does what he is told: a read-only
 * mount does not stop connect(2). */
const char *const guard_masked[] = {
	"/var/lib/incus/unix.socket",
	"/var/lib/lxd/unix.socket",
	"/var/snap/lxd/common/lxd/unix.socket",
	NULL,
};

const char *const guard_masked_in_run[] = {
	"docker.sock",	"containerd",	    "podman",
	"crio",		"cri-dockerd.sock", "k3s",
	"buildkit",	"libvirt",	    "incus",
	"snapd.socket", "systemd/private",  "dbus/system_bus_socket",
	NULL,
};

const char *const guard_masked_in_runtime[] = {
	"bus", "systemd", "podman", "docker.sock", "gnupg", "keyring", NULL,
};
