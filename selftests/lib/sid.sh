# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of another suite, by a configuration of apt of its own, with its own
# lists and cache, so that nothing of the system changes. Source it after
# common.sh.
#
#	sid_setup DIR		everything is below DIR; status 1, and a sentence on
#				standard error, if it cannot be had here
#	sid_get ARG...		apt-get ARG... there; what it complains of goes to DIR/log
#	sid_update		fetch the lists, at most once a day; 1 if the network refuses
#	sid_versions NAME	the packages that NAME takes, "name=version" each

SID_SUITE=sid
SID_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
sid_dir=

# The mirror that this system uses for Debian's main archive.
sid_mirror()
{
	local f

	for f in /etc/apt/sources.list.d/*.sources; do
		[[ -e $f ]] || continue
		awk -v RS= '/(^|\n)Components:[^\n]*main/ &&
			/(^|\n)Enabled: *no/ == 0 {
			if (match($0, /(^|\n)URIs: *[^ \n]+/)) {
				uri = substr($0, RSTART, RLENGTH)
				sub(/.*URIs: */, "", uri)
				print uri
			}
		}' "$f"
	done
	for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[[ -e $f ]] || continue
		sed -En 's/^deb +(\[[^]]*\] +)?([^ ]+) .* main( .*)?$/\2/p' "$f"
	done
}

sid_setup()
{
	local apt uri

	sid_dir=$1
	apt=$sid_dir/apt
	[[ -e /etc/debian_version ]] || { say "no Debian"; return 1; }
	[[ $(dpkg --print-architecture) == amd64 ]] || { say "not amd64"; return 1; }
	[[ -e $SID_KEYRING ]] || { say "no $SID_KEYRING"; return 1; }
	mkdir -p "$apt"/{lists,cache/archives}/partial
	uri=$(sid_mirror | grep -E '/debian/?$' | head -n 1 || :)
	[[ $uri ]] || { say "no mirror of Debian in the system's apt sources"; return 1; }
	cat >"$apt/sources.list" <<-END
		deb [signed-by=$SID_KEYRING] $uri $SID_SUITE main
	END
	cat >"$apt/apt.conf" <<-END
		Dir::Etc::SourceList "$apt/sources.list";
		Dir::Etc::SourceParts "-";
		Dir::State::Lists "$apt/lists";
		Dir::State::Status "/dev/null";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Acquire::http::Timeout "30";
	END
}

sid_get()
{
	APT_CONFIG=$sid_dir/apt/apt.conf apt-get -qq "$@" </dev/null 2>>"$sid_dir/log"
}

sid_update()
{
	[[ ! $(find "$sid_dir/stamp" -mmin -1440 2>/dev/null) ]] || return 0
	: >"$sid_dir/log"
	if ! sid_get update >>"$sid_dir/log" ||
		grep -q '^[WE]:.*Failed to fetch' "$sid_dir/log"; then
		say "the network refuses: $(grep -m 1 '^[EW]:' "$sid_dir/log" || :)"
		return 1
	fi
	touch "$sid_dir/stamp"
}

sid_versions()
{
	sid_get install -s --no-install-recommends "$1" |
		sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p'
}
