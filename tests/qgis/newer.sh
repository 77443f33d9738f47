#!/bin/sh
# Try the plugin in a newer QGIS than this machine has, in a chroot that is made once and kept.
#
#   sudo tests/qgis/newer.sh trixie /var/tmp/qgis     QGIS 3.40 of Debian 13
#   sudo tests/qgis/newer.sh forky  /var/tmp/qgis     the QGIS of Debian testing
#
# MIRROR names the Debian archive; without it, the first one that this machine's apt knows is taken.
# The claims and the tour leave their outcome in <folder>/<suite>-results.
set -eu
suite=$1
folder=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
root=$folder/$suite
results=$folder/$suite-results
mirror=${MIRROR:-$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
  grep -v '^#' | head -n 1 | tr -d ' ')}
command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap

if [ ! -e "$root/usr/bin/qgis" ]; then
  mkdir -p "$root"
  scripts=/usr/share/debootstrap/scripts
  script=$scripts/$suite
  [ -e "$script" ] || script=$scripts/sid # a suite that is younger than this debootstrap
  [ -e "$root/etc/apt/sources.list" ] ||
    debootstrap --variant=minbase "$suite" "$root" "$mirror" "$script"
  # a snapshot of a suite that moves on is older than it promises to be
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/99snapshot"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  chroot "$root" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y -qq --no-install-recommends \
    qgis python3-qgis xvfb openbox xdotool >"$folder/$suite-install.log" 2>&1
fi

rm -rf "$results"
mkdir -p "$results" "$root/src" "$root/results"
trap 'umount "$root/results" "$root/src" "$root/dev/shm" "$root/proc" 2>/dev/null || true' EXIT
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs shm "$root/dev/shm"
mount --bind -o ro "$here" "$root/src"
mount --bind "$results" "$root/results"
chroot "$root" env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME=/root \
  sh -c 'cd /src && PYTHONDONTWRITEBYTECODE=1 python3 -m tests.qgis.newer /results'
