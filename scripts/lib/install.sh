# shellcheck shell=bash
# Finds what the tests need, or installs it. Sourced by scripts/test.sh.

# have_services succeeds when a broker and a store can be started.
have_services() {
  have_rabbitmq && have_redis
}

have_rabbitmq() {
  [ -n "${TRACTION_TEST_RABBITMQ_CMD:-}" ] && return
  local path
  for path in /usr/lib/rabbitmq/bin /opt/homebrew/opt/rabbitmq/sbin /usr/local/opt/rabbitmq/sbin; do
    [ -x "$path/rabbitmq-server" ] && return
  done
  command -v rabbitmq-server >/dev/null
}

have_redis() {
  [ -n "${TRACTION_TEST_REDIS_CMD:-}" ] && return
  command -v redis-server >/dev/null || command -v valkey-server >/dev/null
}

# have_cc succeeds when the race detector can be linked.
have_cc() { command -v "${CC:-gcc}" >/dev/null || command -v cc >/dev/null; }

# have_tmux succeeds when the live view can be tried in a real terminal.
have_tmux() { command -v tmux >/dev/null; }

# find_go puts Go in PATH from where its own installer lays it.
find_go() {
  command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin:$HOME/go/bin
  command -v go >/dev/null
}

# install_needs installs RabbitMQ, Redis and a C compiler where one is missing.
install_needs() {
  if command -v apt-get >/dev/null; then
    install_apt
  elif command -v brew >/dev/null; then
    have_rabbitmq || brew install --quiet rabbitmq
    have_redis || brew install --quiet redis
    have_tmux || brew install --quiet tmux
  else
    return 1
  fi
}

install_apt() {
  local sudo='' packages=()
  have_rabbitmq || packages+=(rabbitmq-server)
  have_redis || packages+=(redis-server)
  have_cc || packages+=(gcc libc6-dev)
  have_tmux || packages+=(tmux)
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || return 1
    sudo='sudo -n'
  fi
  say "installing ${packages[*]}"
  # The packages would start their daemons on the well-known ports; the tests
  # start their own, and a machine should run nothing more after them.
  local policy=/usr/sbin/policy-rc.d laid=''
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | $sudo tee "$policy" >/dev/null
    $sudo chmod 755 "$policy"
    laid=yes
  fi
  local code=0
  { $sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${packages[@]}"; } </dev/null >&2 || code=$?
  [ -z "$laid" ] || $sudo rm -f "$policy"
  return "$code"
}

# in_container runs the whole script in a container, where the tests install,
# kill and restart servers as they like. Nothing in the tree is written. It comes
# back only where there is no engine.
in_container() {
  local engine version
  if docker info >/dev/null 2>&1; then
    engine=docker
  elif podman info >/dev/null 2>&1; then
    engine=podman
  else
    return 1
  fi
  # shellcheck disable=SC2154 # scripts/test.sh sets repo
  version=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' "$repo/go.mod")
  say "no servers here and no way to install them: running in a container with $engine"
  exec "$engine" run --rm --init -e CI -v "$repo:/src:ro" -w /src "docker.io/library/golang:$version-bookworm" scripts/test.sh "$@"
}
