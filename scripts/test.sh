#!/usr/bin/env bash
# Checks everything a change must pass, on a machine that has nothing but Go:
#   formatting, vet, static analysis, known vulnerabilities, all tests with the race
#   detector against a real broker and a real store, and a moment of fuzzing.
#
#   scripts/test.sh [options] [packages...]      default: ./...
#     --matrix   then run the tests again on RabbitMQ 4 with Valkey 8, and on
#                RabbitMQ 4 with Redis 8 (Debian, as root; see scripts/newer.sh)
#     --short    tests only, with go test's -short
#     --verbose  a line for every test
#     --keep     keep the broker and the store afterwards, until Ctrl-C
#
# RabbitMQ and Redis are found or installed (apt, Homebrew, else a container).
# Private ones are started on free ports with their data in a temporary folder,
# and ended at the end. Exits 0 when all is well, 1 when something failed, 2 on
# wrong usage.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib/install.sh
. "$repo/scripts/lib/install.sh"

staticcheck=honnef.co/go/tools/cmd/staticcheck@v0.8.2
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0

say() { printf '== %s\n' "$*" >&2; }
usage() { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; }

given=("$@") matrix='' short='' keep='' failed='' packages=()
testflags=(-race -count=1 -timeout 15m)
# Most tests wait: for brokers, holds and beats. So two packages run at a time, and
# six tests of each. Those that take long begin first.
side_by_side=(-p 2 -parallel 6)
long=(pkg/governor internal/e2e pkg/governor/governortest internal/store internal/broker/rabbit
  internal/scripttest internal/workercmd internal/simfleet internal/testsvc internal/texts internal/top)
# These measure a pace by the clock, and run alone.
alone=(internal/demo)
while [ $# -gt 0 ]; do
  case $1 in
    --matrix) matrix=yes ;;
    --short) short=yes; testflags+=(-short) ;;
    --verbose) testflags+=(-v) ;;
    --keep) keep=-keep ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) packages+=("$1") ;;
  esac
  shift
done
[ ${#packages[@]} -gt 0 ] || packages=(./...)
cd "$repo"

# step runs a check and remembers its name when it fails; the rest still runs.
step() {
  local name=$1
  shift
  say "$name"
  "$@" || failed="$failed, $name"
}

format() {
  local out
  out=$(go list -f '{{.Dir}}' "${packages[@]}" | xargs gofmt -l | sort -u) || return
  [ -z "$out" ] || { printf 'not formatted (run gofmt -w):\n%s\n' "$out"; return 1; }
}

# low runs what has time, at the lowest priority: tests run meanwhile.
low() { nice -n 19 "$@"; }

# tool installs a pinned tool into the temporary folder: go run would hide its
# exit code.
tool() { GOBIN=$tmp/bin GOFLAGS='' low go install "$1"; }

analyse() { tool "$staticcheck" && low "$tmp/bin/staticcheck" "${packages[@]}"; }

vulnerabilities() {
  local code=0 log=$tmp/vuln.log
  tool "$govulncheck" || return
  low "$tmp/bin/govulncheck" "${packages[@]}" >"$log" 2>&1 || code=$?
  if [ "$code" -ne 0 ] && grep -q 'fetching vulnerabilities' "$log"; then
    say "NOT CHECKED for known vulnerabilities: their database could not be reached"
    return 0
  fi
  cat "$log"
  return "$code"
}

# fuzz looks for a moment at everything that reads what others wrote. What it finds
# is left in testdata/fuzz, where the tests try it from then on. The amount is a
# number of inputs: with a time go test now and then fails at its end.
fuzz() {
  local file name bad=0
  while IFS=: read -r file name; do
    name=${name#func }
    go test -run '^$' -fuzz "^$name\$" -fuzztime 5000x -fuzzminimizetime 1s "./${file%/*}" </dev/null || bad=1
  done < <(grep -roE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' internal pkg | sort)
  return "$bad"
}

# read_code runs the checks that only read the code, in the background; read_done waits
# for them and prints what they say.
read_code() {
  set -m # a group of its own, so that it ends as a whole
  {
    failed=''
    step "go vet" low go vet "${packages[@]}"
    step "staticcheck" analyse
    step "govulncheck" vulnerabilities
    printf '%s' "$failed" >"$tmp/reading.failed"
  } >"$tmp/reading.log" 2>&1 </dev/null &
  reading=$!
  set +m
}

read_done() {
  [ -n "$reading" ] || return 0
  local code=0
  wait "$reading" || code=$?
  reading=''
  cat "$tmp/reading.log" >&2
  if [ -f "$tmp/reading.failed" ]; then
    failed=$failed$(cat "$tmp/reading.failed")
  else
    failed="$failed, the checks that read the code (exit $code)"
  fi
}

# arrange sorts the packages asked for into timed, which run alone, and beside, the
# long ones first.
arrange() {
  local module all p
  module=$(go list -m) || return
  all=$(go list "${packages[@]}") || return
  beside=() timed=()
  for p in "${long[@]}"; do
    if grep -qx "$module/$p" <<<"$all"; then beside+=("$module/$p"); fi
  done
  for p in "${alone[@]}"; do
    if grep -qx "$module/$p" <<<"$all"; then timed+=("$module/$p"); fi
  done
  for p in $all; do
    case " ${beside[*]-} ${timed[*]-} " in
      *" $p "*) ;;
      *) beside+=("$p") ;;
    esac
  done
}

# tests runs what may run side by side, and then what measures time.
tests() {
  local where=$1 keeping=$keep
  arrange || { failed="$failed, finding the packages$where"; return; }
  [ ${#timed[@]} -eq 0 ] || keep='' # until the last are over
  [ ${#beside[@]} -eq 0 ] || step "go test$where" run_tests "${side_by_side[@]}" "${beside[@]}"
  keep=$keeping
  read_done
  [ ${#timed[@]} -eq 0 ] || step "go test$where of what measures time" run_tests -p 1 -parallel 4 "${timed[@]}"
}

# run_tests runs go test beside one broker and one store. A signal to this script
# is passed on, and the servers end with it.
run_tests() {
  go build -o "$tmp/bin/with" ./internal/testsvc/with || return
  "$tmp/bin/with" $keep go test "${testflags[@]}" "$@" &
  child=$!
  local code=0
  wait "$child" || code=$?
  child=''
  return "$code"
}

# newer runs the tests on RabbitMQ 4 and the given store of scripts/newer.sh.
newer() {
  local root
  root=$("$repo/scripts/newer.sh" root) || { failed="$failed, RabbitMQ 4 and $2"; return; }
  TRACTION_TEST_RABBITMQ_CMD="$repo/scripts/newer.sh rabbitmq" \
    TRACTION_TEST_RABBITMQCTL_CMD="chroot $root /usr/bin/env HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/rabbitmq/bin/rabbitmqctl" \
    TRACTION_TEST_REDIS_CMD="$repo/scripts/newer.sh $1" tests " on RabbitMQ 4 and $2"
}

child='' reading='' tmp=''
finish() {
  [ -z "$reading" ] || kill -TERM -- "-$reading" 2>/dev/null || true
  if [ -n "$child" ]; then
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  [ -z "$tmp" ] || rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

if ! have_services || ! have_tmux || { find_go && ! have_cc; }; then
  install_needs || in_container ${given[@]+"${given[@]}"} || {
    say "RabbitMQ, Redis, tmux or a C compiler is missing and could not be installed: install rabbitmq-server, redis-server (or valkey-server), tmux and gcc, or start docker, and run this again"
    exit 1
  }
fi
find_go || { say "Go is missing: install the version go.mod names into /usr/local/go, and run this again"; exit 1; }
# Version stamping fails in a tree that belongs to another user.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
tmp=$(mktemp -d)
# Their URLs would send tests to servers that others use.
unset TRACTION_TEST_AMQP_URL TRACTION_TEST_REDIS_URL TRACTION_AMQP_URL TRACTION_REDIS_URL TRACTION_NAMESPACE TRACTION_CONFIG

if [ -z "$short" ]; then
  step "gofmt" format
  say "go vet, staticcheck and govulncheck, beside the tests"
  read_code
fi
tests ""
[ -n "$short" ] || [ "${packages[*]}" != ./... ] || step "fuzz" fuzz
if [ -n "$matrix" ]; then
  newer valkey "Valkey 8"
  newer redis "Redis 8"
fi

if [ -n "$failed" ]; then
  say "FAILED: ${failed#, }"
  exit 1
fi
say "all passed"
