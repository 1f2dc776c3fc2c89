# What every command of tools/dev uses: words on the terminal, a scratch folder, git.
# shellcheck shell=bash disable=SC2034,SC2154 # tools/dev has what is not assigned here

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
else
  bold='' green='' red='' plain=''
fi
say() { printf '%s==> %s%s\n' "$bold" "$*" "$plain"; }
error() { printf '%sdev: error:%s %s\n' "$red" "$plain" "$*" >&2; }
note() { printf 'dev: note: %s\n' "$*" >&2; }
die() { error "$@"; exit 1; }
usage_error() { error "$1"; note "see 'tools/dev $2 --help'"; exit 2; }
traced() { printf '+ %s\n' "$*"; "$@"; }

# One scratch folder, gone when the script ends, whichever way it ends.
scratch=''
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
make_scratch() { scratch=$(mktemp -d); }

# Git refuses a checkout owned by another user (a container's mount, say); reading our own one is safe.
git() { command git -c safe.directory="$root" "$@"; }

# Tracked files that are still there, by pattern.
tracked() {
  git ls-files -- "$@" | while IFS= read -r file; do
    [[ ! -f $file ]] || echo "$file"
  done
}

need_tool() { command -v "$1" >/dev/null || die "no $1 on this machine; 'tools/dev setup' installs it"; }
