#!/usr/bin/env bash
# Runs the servers of Debian 13 (RabbitMQ 4.0, Valkey 8, Redis 8) in the foreground
# from a root of their own, beside whatever the machine has. Needs root; builds
# that root once, in about a minute, with debootstrap.
#
#   scripts/newer.sh root                 build if needed, and print where it is
#   scripts/newer.sh rabbitmq PORT DIR    DIR, in /tmp, takes its data
#   scripts/newer.sh valkey PORT [ARG...]
#   scripts/newer.sh redis PORT [ARG...]
#
# TRIXIE_ROOT names another place for the root than /var/tmp/trixie-root. It stays
# there for the next time. To remove it, unmount its proc, dev and tmp first.
set -euo pipefail
root=${TRIXIE_ROOT:-/var/tmp/trixie-root}

build() {
  [ ! -e "$root/.ready" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "building $root needs root: run this with sudo" >&2
    return 1
  fi
  if ! command -v debootstrap >/dev/null; then
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq debootstrap >&2 </dev/null
  fi
  debootstrap --variant=minbase --include=rabbitmq-server,valkey-server,redis-server trixie "$root" >&2
  mkdir -p "$root/proc" "$root/dev" "$root/tmp"
  cp /etc/hosts "$root/etc/hosts"
  touch "$root/.ready"
}

# Several of these start at once: one at a time builds and mounts.
prepare() {
  exec 9>"$root.lock"
  flock 9
  build
  mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
  mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
  mountpoint -q "$root/tmp" || mount --bind /tmp "$root/tmp"
  exec 9>&-
}

inside() {
  exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

rabbitmq() {
  local port=$1 dir=$2
  mkdir -p "$dir"
  # The distances of the ports are those internal/testsvc expects; its ERL_FLAGS
  # say that it has an epmd there already.
  inside RUNNING_UNDER_SYSTEMD=true \
    ERL_FLAGS="${ERL_FLAGS:-}" ERL_EPMD_PORT=$((port + 18)) ERL_EPMD_ADDRESS=127.0.0.1 \
    RABBITMQ_NODENAME="r$port@localhost" RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 \
    RABBITMQ_NODE_PORT="$port" RABBITMQ_DIST_PORT=$((port + 8)) \
    RABBITMQ_MNESIA_BASE="$dir/mnesia" RABBITMQ_LOG_BASE="$dir/log" RABBITMQ_PID_FILE="$dir/pid" \
    RABBITMQ_CONFIG_FILE="${RABBITMQ_CONFIG_FILE:-$dir/rabbitmq.conf}" \
    RABBITMQ_ENABLED_PLUGINS_FILE="$dir/enabled_plugins" \
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 2:2 +SDio 4 +sbwt none +sbwtdcpu none +sbwtdio none" \
    /usr/lib/rabbitmq/bin/rabbitmq-server
}

case ${1:-}:$# in
  root:1) prepare; echo "$root" ;;
  rabbitmq:3) prepare; rabbitmq "$2" "$3" ;;
  valkey:[2-9]* | valkey:1?* | redis:[2-9]* | redis:1?*)
    server=$1-server port=$2
    shift 2
    prepare
    inside "$server" --port "$port" --bind 127.0.0.1 --save "" "$@"
    ;;
  *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2 ;;
esac
