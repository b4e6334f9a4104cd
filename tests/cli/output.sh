#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What commands write: the mode of images, what -o may name, and outputs that
# cannot be written.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/lib.bash"

printf '192.0.2.1\n' >one.txt
printf '192.0.2.1\n192.0.2.2\n' >two.txt

# entries IMAGE: how many, or the complaint
entries()
{
	info "$1" .entries 2>&1
}

# --- modes ---

with_umask()
{
	umask "$1"
	"${@:2}"
}

for umask in 000 022 077 777; do
	(with_umask "$umask" baleen build -o "umask$umask.bln" one.txt)
	is "an image is 0600 under umask $umask" "$(stat -c %a "umask$umask.bln")" 600
	(with_umask "$umask" baleen compile -o "umask$umask.o" one.txt)
	is "an object is 0600 under umask $umask" "$(stat -c %a "umask$umask.o")" 600
done
prints "an image" "" baleen build -o public.bln two.txt
user chmod 0644 public.bln
prints "a public file is replaced" "" baleen build -o public.bln one.txt
is "and is 0600 from then on" "$(stat -c %a public.bln)" 600
before=$(stat -c %i public.bln)
prints "an image is replaced" "" baleen build -o public.bln two.txt
is "by another file, whole" "$(entries public.bln)" 2
check_status "not by writing into the old one" 1 test "$before" = "$(stat -c %i public.bln)"
for slip in "build -o one.txt one.txt" "compile -o one.txt one.txt" "compile -o public.bln one.txt"; do
	# shellcheck disable=SC2086 # words
	check_status "$slip, a slip" 1 baleen $slip
	is "says so" "$(sed -E 's/an (image|object)/such a file/' "$TMP/err")" \
		"baleen: $(cut -d ' ' -f 3 <<<"$slip"): exists and is not such a file: not overwritten"
done
is "and nothing is overwritten" "$(<one.txt) $(entries public.bln)" "192.0.2.1 2"
is "nothing is left beside it" "$(find . -name 'public.bln?*')" ""

# --- links ---

user mkdir real
user ln -s real/image.bln link.bln
user cp public.bln real/image.bln
prints "a symbolic link is followed" "" baleen build -o link.bln one.txt
is "to the file behind it" "$(entries real/image.bln)" 1
is "and stays a link" "$(readlink link.bln)" real/image.bln
user ln -s nothing dangling.bln
refuses "a link that leads nowhere is refused" "dangling.bln: No such file or directory" \
	baleen build -o dangling.bln one.txt
is "and stays" "$(readlink dangling.bln)" nothing
user ln -s loop.bln loop.bln
refuses "a link to itself is refused" "loop.bln: Too many levels of symbolic links" \
	baleen build -o loop.bln one.txt
is "and stays, too" "$(readlink loop.bln)" loop.bln
user ln public.bln hard.bln
prints "one name of a file is replaced" "" baleen build -o public.bln one.txt
is "its other name keeps the old image" "$(entries hard.bln)" 2

# --- what is not a file ---

refuses "-o to a directory" "real: Is a directory" baleen build -o real one.txt
refuses "-o into a directory that is not there" "none/x.bln: No such file or directory" \
	baleen build -o none/x.bln one.txt
refuses "-o below a file" "one.txt/x.bln: Not a directory" baleen build -o one.txt/x.bln one.txt
user mkdir closed
user chmod 0500 closed
if user touch closed/x 2>/dev/null; then
	skip "-o into a directory that is not ours" "this user writes everywhere"
else
	refuses "-o into a directory that is not ours" "closed/x.bln: Permission denied" \
		baleen build -o closed/x.bln one.txt
fi
null=$(stat -c '%F %t:%T %a' /dev/null)
stdout=$(readlink /dev/stdout)
prints "-o /dev/null" "" baleen build -o /dev/null one.txt
prints "compile -o /dev/null" "" baleen compile -o /dev/null one.txt
is "stays what it is" "$(stat -c '%F %t:%T %a' /dev/null)" "$null"
# shellcheck disable=SC2016 # for the inner shell
user bash -c '"$0" build -o /dev/stdout one.txt | cat >piped.bln' "$TMP/baleen"
is "-o /dev/stdout into a pipe" "$(entries piped.bln)" 1
baleen build -o /dev/stdout two.txt >redirected.bln
is "-o /dev/stdout into a file" "$(entries redirected.bln)" 2
: >nameless.bln
chmod 0666 nameless.bln
exec 3<>nameless.bln
rm nameless.bln
prints "-o into a file that has no name any more" "" baleen build -o /dev/fd/3 two.txt
cat /dev/fd/3 >named.bln
exec 3<&-
is "is the image" "$(entries named.bln)" 2
is "and no new file" "$(find . -name 'nameless*')" ""
is "/dev/stdout stays a link" "$(readlink /dev/stdout)" "$stdout"
user mkfifo pipe.bln
cat pipe.bln >from-pipe.bln &
prints "-o into a named pipe" "" baleen build -o pipe.bln two.txt
wait
is "is read there" "$(entries from-pipe.bln)" 2
check "and the pipe stays" test -p pipe.bln

# --- outputs that cannot be written ---

refuses "-o into a full device" "/dev/full: No space left on device" \
	baleen build -o /dev/full one.txt
refuses "compile into a full device" "/dev/full: No space left on device" \
	baleen compile -o /dev/full one.txt

# lost NAME REASON COMMAND...: its output goes nowhere, it says so and ends with 1
lost()
{
	local status

	"${@:3}" >/dev/full 2>"$TMP/err"
	status=$?
	is "$1, full" "$status $(<"$TMP/err")" "1 baleen: cannot write the output: $2"
	"${@:3}" >&- 2>"$TMP/err"
	status=$?
	is "$1, closed" "$status $(<"$TMP/err")" \
		"1 baleen: cannot write the output: Bad file descriptor"
}

make_list many.txt 20000 0 1
for command in "info two.txt" "info -j two.txt" "match two.txt 192.0.2.1" \
	"match -c two.txt 192.0.2.1" "match -j two.txt 192.0.2.1" "match -f many.txt many.txt" \
	"dump two.txt" "dump -j two.txt" \
	"dump many.txt" "build -j -o new.bln two.txt" "compile -j -o new.o two.txt" help \
	"help build" --version "build --help"; do
	# shellcheck disable=SC2086 # words
	lost "$command" "No space left on device" baleen $command
done
seen=$(baleen dump many.txt 2>"$TMP/err" | head -n 1; echo "${PIPESTATUS[0]} $(<"$TMP/err")")
is "a reader that goes away" "${seen#*$'\n'}" "1 "
baleen match two.txt <&- >"$TMP/out" 2>"$TMP/err"
is "a standard input that is closed" "$? $(<"$TMP/out")$(<"$TMP/err")" \
	"1 baleen: stdin: Bad file descriptor"
baleen build -o new.bln one.txt - <&- >"$TMP/out" 2>"$TMP/err"
is "as a list, too" "$? $(<"$TMP/out")$(<"$TMP/err")" "1 baleen: stdin: Bad file descriptor"
baleen build -o silent.bln --skip-bad one.txt <&- >&- 2>&-
is "nothing open at all" "$? $(entries silent.bln)" "0 1"
