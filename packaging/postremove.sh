#!/bin/sh
# Forgets the service, and in Debian removes its recordings with "purge".
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || :
fi
if [ "$1" = purge ]; then
	rm -rf /var/lib/dubbo-wire /var/lib/private/dubbo-wire
fi
