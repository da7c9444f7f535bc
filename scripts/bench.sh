#!/usr/bin/env bash
# Measures Traction against what it is built on, as ratios taken in one run on
# private services, or as amounts: one line a figure, name and number; how it was
# taken goes to standard error. See docs/performance.md.
#
#   scripts/bench.sh [-only FIGURE,FIGURE] [-n MESSAGES] [-rounds N] [-longest MESSAGES]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/install.sh
. scripts/lib/install.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/with" ./internal/testsvc/with
(cd bench && go build -o "$tmp/bench" .)
"$tmp/with" "$tmp/bench" "$@"
