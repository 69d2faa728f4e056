#!/bin/sh
# What would weaken the sandbox is refused before anything is started.
. "$(dirname "$0")/../../lib/tap.sh"
. "$(dirname "$0")/browser.sh"

fake echo
echo=--fence-browser=$T/echo
exits "the control: a harmless word reaches the browser" 0 fence-chromium "$echo" hello
like "and is all that it gets" "$(cat "$T/out")" "--user-data-dir=$T/tmp/fc-*/profile hello"

for word in --single-process -single-process=1 ' --no-zygote' --in-process-gpu \
	--renderer-cmd-prefix=x --js-flags=--sandbox-testing; do
	exits "'$word' is refused" 77 fence-chromium "$echo" --fence-evidence="$T/ev.json" "$word"
	is "'$word': the browser was never started" "$(cat "$T/out")" ''
	is "'$word': evidence has the reason" "$(value code "$T/ev.json")" weakening_flag
	is "'$word': evidence has no browser" "$(value browser "$T/ev.json")" null
done
is "one line says what is refused and what to do" "$(cat "$T/err")" \
	"fence-chromium: refused (weakening_flag): --js-flags: an option that is not allowed; take the option out: it weakens the browser's sandbox"
exits "a child's switch is refused" 77 fence-chromium "$echo" --type=renderer
like "as no browser" "$(cat "$T/err")" '*bad_flag*'
exits "the vocabulary of two folds the reasons" 77 \
	fence-chromium "$echo" --fence-reason-vocabulary=two --single-process
like "to one word" "$(cat "$T/err")" '*sandbox_unavailable*'

exits "strict refuses --no-sandbox too" 77 fence-chromium "$echo" --fence-strict --no-sandbox
exits "also by a variable" 77 env FENCE_CHROMIUM_STRICT=1 fence-chromium "$echo" --no-sandbox
exits "after a bare -- it is only a word" 0 fence-chromium "$echo" --fence-strict -- --no-sandbox
exits "an option of ours that there is not is named" 125 fence-chromium "$echo" --fence-strickt
like "with the nearest one" "$(cat "$T/err")" '*--fence-strickt: unknown option; did you mean --fence-strict?'
exits "so with a blank before it" 125 fence-chromium "$echo" ' -fence-strickt'
leaves_nothing "nothing is left"
done_testing
