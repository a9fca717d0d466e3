#!/bin/sh
# Stops and disables the service before the package is removed ("remove" in Debian, 0 in RPM), not before an upgrade.
set -e
case "$1" in
remove | 0)
	if [ -d /run/systemd/system ]; then
		systemctl --no-reload disable --now dubbo-wire.service || :
	else
		rm -f /etc/systemd/system/multi-user.target.wants/dubbo-wire.service
	fi
	;;
esac
