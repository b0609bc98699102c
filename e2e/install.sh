#!/bin/sh
# Installs what the end-to-end tests need and is not there yet: Chromium, a C
# compiler for the race detector, and npm from Debian's packages; then the MCP
# servers that others wrote, pinned, into e2e/.cache. Elsewhere than on Debian it
# says what to install. Run again, it does nothing.
set -eu
cd "$(dirname "$0")"
cache=${INSPECTOR_E2E_CACHE:-$PWD/.cache}
mkdir -p "$cache/bin" "$cache/npm"

has() { command -v "$1" >/dev/null 2>&1; }

# can_install says whether packages of Debian can be installed without asking anybody.
sudo=
can_install() {
	has apt-get || return 1
	[ "$(id -u)" = 0 ] && return 0
	has sudo && sudo -n true 2>/dev/null && sudo=sudo
}

# packages PACKAGES... installs Debian packages.
packages() {
	# shellcheck disable=SC2086
	$sudo env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -q && apt-get install -q -y --no-install-recommends $*" >"$cache/apt.log" 2>&1 </dev/null
}

# need WHAT PACKAGES... installs Debian packages, or says what is missing.
need() {
	what=$1
	shift
	if ! can_install; then
		echo "The tests need $what. Install it, then run them again:" >&2
		case $(uname) in
		Darwin) echo "  brew install --cask chromium; brew install node; xcode-select --install" >&2 ;;
		*) echo "  Debian, Ubuntu: sudo apt-get install $*" >&2 ;;
		esac
		exit 1
	fi
	echo "installing $what"
	packages "$@" || {
		cat "$cache/apt.log" >&2
		exit 1
	}
}

# Tests in Chromium's headless shell take half the time of those in a whole Chromium,
# which is taken where the shell cannot be installed.
shell=/usr/lib/chromium/chromium-headless-shell
if [ -z "${CHROME:-}" ] && [ ! -x $shell ] && [ ! -e "$cache/no-shell" ] && can_install; then
	echo "installing Chromium's headless shell"
	packages chromium-headless-shell || touch "$cache/no-shell"
fi

browser_found() {
	[ -n "${CHROME:-}" ] && return 0
	[ -x $shell ] && return 0
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		has $name && return 0
	done
	[ -d "/Applications/Google Chrome.app" ] || [ -d /Applications/Chromium.app ]
}

browser_found || need "Chromium (or CHROME set to the path of one)" chromium
has cc || has gcc || has clang || need "a C compiler, for Go's race detector" gcc libc6-dev
has npm || need npm npm

if ! cmp -s servers/package-lock.json "$cache/npm/installed"; then
	echo "installing MCP servers from npm"
	cp servers/package.json servers/package-lock.json "$cache/npm/"
	# The newest Node.js that the conformance suite needs comes as a package of its own.
	(cd "$cache/npm" && npm ci --no-audit --no-fund --loglevel=error </dev/null)
	"$cache/npm/node_modules/node/bin/node" --version >/dev/null
	cp servers/package-lock.json "$cache/npm/installed"
fi

# go_server PACKAGE VERSION installs a Go program unless it is that version already.
go_server() {
	name=${1##*/}
	[ "$(cat "$cache/bin/$name.version" 2>/dev/null)" = "$1@$2" ] && return 0
	echo "installing $1@$2"
	GOBIN="$cache/bin" GOFLAGS= go install "$1@$2"
	echo "$1@$2" >"$cache/bin/$name.version"
}
go_server github.com/modelcontextprotocol/go-sdk/conformance/everything-server v1.8.0
go_server github.com/modelcontextprotocol/go-sdk/examples/server/everything v1.8.0
go_server github.com/mark3labs/mcp-go/examples/elicitation v1.2.1
