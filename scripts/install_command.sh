#!/usr/bin/env bash
# Installs a program through the system's package manager, where that is possible without asking anybody.
# Usage: install_command.sh redis-server|make|venv|cc.  Exits 1, saying what to do by hand, where it is not.
set -uo pipefail

command=$1

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

may_be_root() {
  [ "$(id -u)" = 0 ] || { command -v sudo && sudo -n true; } >/dev/null 2>&1
}

package_for() { # package_for MANAGER
  case "$1:$command" in
    *:make) echo make ;;
    brew:cc) ;; # the system has its own
    *:cc) echo gcc ;;
    apt-get:redis-server) echo redis-server ;;
    apt-get:venv) echo python3-venv ;;
    *:redis-server) echo redis ;;
  esac
}

for manager in apt-get dnf apk brew; do
  command -v "$manager" >/dev/null || continue
  package=$(package_for "$manager")
  if [ -z "$package" ]; then
    break
  fi
  if [ "$manager" = brew ]; then
    install=(brew install "$package")
  elif ! may_be_root; then
    echo "Cannot install $package here: that takes root. By hand: sudo $manager install $package" >&2
    exit 1
  elif [ "$manager" = apt-get ]; then
    as_root apt-get update -qq >&2
    # RUNLEVEL=1 asks Debian not to start the service: what needs a server here starts its own.
    install=(as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq "$package")
  elif [ "$manager" = dnf ]; then
    install=(as_root dnf install -y -q "$package")
  else
    install=(as_root apk add -q "$package")
  fi
  echo "Installing $package with $manager ..." >&2
  if "${install[@]}" >&2; then
    exit 0
  fi
  echo "$manager could not install $package; please install it by hand." >&2
  exit 1
done
echo "Please install $command by hand: no package manager known here has it." >&2
exit 1
