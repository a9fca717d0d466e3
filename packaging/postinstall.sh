#!/bin/sh
# Runs after installation and upgrade, of both kinds of packages.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload || :
	systemctl try-restart dubbo-wire.service || :
fi
