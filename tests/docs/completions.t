#!/bin/sh
# The completions, asked of bash, zsh and fish themselves: what each offers for a line that
# has been typed so far.
. "$(dirname "$0")/../lib/tap.sh"

HOME=$T/home
XDG_CONFIG_HOME=$HOME XDG_DATA_HOME=$HOME XDG_RUNTIME_DIR=$HOME
export HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
mkdir "$HOME" "$T/bash" "$T/zsh" "$T/fish" "$T/here"
for program in run guard marker gate; do
	for shell in bash fish; do
		"$BIN/fence-$program" --completions $shell >"$T/$shell/fence-$program.$shell"
	done
	"$BIN/fence-$program" --completions zsh >"$T/zsh/_fence-$program"
done
cd "$T/here" || exit 1
echo x >grace.txt

cat >"$T/ask.bash" <<'END'
. /usr/share/bash-completion/bash_completion
for file in "$1"/bash/*; do . "$file"; done
COMP_LINE=$2
COMP_POINT=${#2}
read -ra COMP_WORDS <<<"$2"
[ "${2% }" = "$2" ] || COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"${COMP_WORDS[0]//-/_}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END

# zsh completes only for who types: in a terminal of its own, with each match that is added
# written to a pipe. With -O, -A or -D compadd is only asked. (What is typed has no comments.)
cat >"$T/ask.zsh" <<'END'
zmodload zsh/zpty
found=$1/found
mkfifo $found
zpty shell zsh -f -i
zpty -w shell "PROMPT= found=$found; fpath=($1/zsh \$fpath)"
zpty -w shell 'autoload -Uz compinit && compinit -D -u
compadd() {
	local -a hits
	if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
		builtin compadd "$@"
		return
	fi
	builtin compadd -A hits "$@"
	(( $#hits )) && print -rl -- $hits >&3
	builtin compadd "$@"
}
offer() { exec 3>$found; _main_complete; exec 3>&-; }
zle -C offer complete-word offer
bindkey "^I" offer'
zpty -w -n shell "$2"$'\t'
cat $found
rm $found
zpty -d shell
END

ask() {
	case $1 in
	bash) timeout 20 bash --norc --noprofile "$T/ask.bash" "$T" "$2" ;;
	zsh) timeout 20 zsh -f "$T/ask.zsh" "$T" "$2" ;;
	fish) timeout 20 fish --private -c '
		for file in $argv[1]/fish/*; source $file; end; complete -C $argv[2]' "$T" "$2" ;;
	esac 2>"$T/err" </dev/null | cut -f1 | sort -u | paste -sd' '
}

while read -r shell needs; do
	if ! command -v "$shell" >/dev/null || [ ! -e "$needs" ]; then
		lacks "$shell completes" "$shell with $needs (scripts/setup test)"
		continue
	fi
	is "$shell: all options" "$(ask "$shell" "fence-run --" | tr ' ' '\n' | grep -- --)" \
		"$(fence-run --print-options | sort)"
	is "$shell: options by their beginning" "$(ask "$shell" "fence-run --ti")" --timeout
	is "$shell: the words of a choice, and nothing else" \
		"$(ask "$shell" "fence-run --clock ")" "boottime monotonic"
	like "$shell: a file" "$(ask "$shell" "fence-run --result gra")" grace.txt
	# Words that other names begin with, too: files, functions of the shell.
	for line in "fence-run -- setpri" "fence-run -q -- setpri" "fence-run setpri" \
		"fence-run --timeout 5s setpri" "fence-guard exec -- setpri"; do
		is "$shell: a command: $line" "$(ask "$shell" "$line")" setpriv
	done
	is "$shell: after -- the options are the command's" "$(ask "$shell" "fence-run -- ls --si")" "--si --size"
	is "$shell: also when there are programs of ours between" \
		"$(ask "$shell" "fence-run --timeout 5s -- fence-guard exec --profile gate -- ls --si")" "--si --size"
	like "$shell: the verbs" "$(ask "$shell" "fence-guard ")" "*doctor exec explain*"
	is "$shell: a verb's options" "$(ask "$shell" "fence-guard exec --pr")" \
		"--print-options --profile --protect"
	is "$shell: a verb that runs no command completes files" \
		"$(ask "$shell" "fence-marker read gra")" grace.txt
done <<EOL
bash /usr/share/bash-completion/bash_completion
zsh /usr/share/zsh/functions
fish /usr/share/fish/completions
EOL
done_testing
