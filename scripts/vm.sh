#!/bin/bash
# A Debian machine under QEMU, for tests on another kernel with systemd and cgroup v2.
#
#   scripts/vm.sh build NAME SUITE            create an image (bookworm has kernel 6.1, trixie 6.12)
#   scripts/vm.sh boot NAME [KERNEL-ARG...]   boot and wait for SSH; $DEVICES adds options of QEMU, such as disks
#   scripts/vm.sh run NAME COMMAND...         run a command as root
#   scripts/vm.sh user NAME COMMAND...        run a command as the user bob, in a login session
#   scripts/vm.sh put NAME FILE DESTINATION   copy a file into the machine
#   scripts/vm.sh poweroff NAME               shut down
#   scripts/vm.sh cut NAME                    stop at once, as if the power failed: data that is not flushed is lost
#
# `boot NAME lsm=lockdown,yama,apparmor` boots without Landlock. `run NAME sysctl user.max_user_namespaces=0` disables
# user namespaces. Images and keys are in $LAB (default: .vm in the current folder). `build` uses the APT source of this
# machine and adds the packages in $EXTRA, for example EXTRA=docker.io,podman.
#
# Needs root and: apt-get install -y qemu-system-x86 mmdebstrap openssh-client socat
# Without KVM the machine is emulated: it boots in one to three minutes, and timings mean nothing. Where KVM works, set
# ACCEL='-enable-kvm -cpu host'.
set -eu

usage() {
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
}
[ $# -ge 2 ] || usage
verb=$1 name=$2
shift 2

LAB=${LAB:-$PWD/.vm}
mkdir -p "$LAB"
image=$LAB/$name.img boot=$LAB/$name.boot key=$LAB/key
port=$((22000 + $(printf %s "$name" | cksum | cut -d' ' -f1) % 900))
[ -e "$key" ] || ssh-keygen -q -t ed25519 -N '' -f "$key"
options=(-q -i "$key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=20)

login() { # login USER COMMAND
  ssh "${options[@]}" -p "$port" "$1@127.0.0.1" "$2"
}

monitor() { # monitor COMMAND: fails silently if the machine is off
  echo "$1" | socat - "UNIX-CONNECT:$LAB/$name.mon" >/dev/null 2>&1 || true
}

build() { # build SUITE
  local root=$LAB/$name.root packages source
  packages=systemd,systemd-sysv,dbus,dbus-user-session,libpam-systemd,udev,kmod,initramfs-tools,linux-image-amd64
  packages+=,openssh-server,iproute2,ca-certificates,curl,sudo,procps,psmisc,util-linux,uidmap,zstd
  packages+=,apparmor,bubblewrap,strace,git,python3,gcc,libc6-dev,make${EXTRA:+,$EXTRA}
  source=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | grep -v '^#' |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 | tr -d ' ')
  rm -rf "$root"
  mmdebstrap --mode=root --variant=minbase --include="$packages" --dpkgopt='path-exclude=/usr/share/man/*' \
    "$1" "$root" "deb $source $1 main"
  echo "$name" >"$root/etc/hostname"
  echo "127.0.1.1 $name" >>"$root/etc/hosts"
  echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
  printf '[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n' >"$root/etc/systemd/network/e.network"
  chroot "$root" systemctl enable systemd-networkd ssh >/dev/null 2>&1 || true
  chroot "$root" useradd -m -s /bin/bash bob
  mkdir -p "$root/root/.ssh" "$root/home/bob/.ssh"
  cp "$key.pub" "$root/root/.ssh/authorized_keys"
  cp "$key.pub" "$root/home/bob/.ssh/authorized_keys"
  chroot "$root" chown -R bob:bob /home/bob/.ssh
  mkdir -p "$boot"
  cp "$root"/boot/vmlinuz-* "$root"/boot/initrd.img-* "$boot/"
  rm -f "$image"
  truncate -s 12G "$image"
  mkfs.ext4 -q -d "$root" "$image"
  rm -rf "$root"
}

boot() { # boot KERNEL-ARG...
  local kernel accel=${ACCEL:--accel tcg,thread=multi,tb-size=512 -cpu max}
  kernel=$(printf '%s\n' "$boot"/vmlinuz-* | sort -V | tail -1)
  rm -f "$LAB/$name.mon"
  # shellcheck disable=SC2086 # $accel holds several options.
  qemu-system-x86_64 $accel -m "${MEM:-2048}" -smp 2 -display none -daemonize -pidfile "$LAB/$name.pid" \
    -kernel "$kernel" -initrd "${kernel/vmlinuz-/initrd.img-}" \
    -append "root=/dev/vda rw console=ttyS0 quiet panic=1 $*" \
    -drive "file=$image,if=virtio,format=raw,cache=writeback" -device virtio-rng-pci \
    -netdev "user,id=n,hostfwd=tcp:127.0.0.1:$port-:22" -device virtio-net-pci,netdev=n \
    ${DEVICES:-} -serial "file:$LAB/$name.serial" -monitor "unix:$LAB/$name.mon,server,nowait"
  for _ in $(seq 240); do
    login root true </dev/null && return 0
    sleep 1
  done
  echo "vm.sh: $name did not start SSH within 4 minutes; its console is in $LAB/$name.serial" >&2
  return 1
}

case $verb in
build) [ $# = 1 ] || usage; build "$1" ;;
boot) boot "$@" ;;
run) login root "$*" ;;
user) login bob "$*" ;;
put) [ $# = 2 ] || usage; scp "${options[@]}" -P "$port" "$1" "root@127.0.0.1:$2" ;;
poweroff) login root 'systemctl poweroff' || true; sleep 4; monitor quit ;;
cut) monitor quit; sleep 1 ;;
*) usage ;;
esac
