#!/usr/bin/env python3
"""A wire between two interfaces that loses, reorders and repeats TCP segments with payload.

    wire.py IFACE_A IFACE_B LOSS REORDER DUPLICATE [MIRROR MISSED]      (probabilities; the seed is fixed)

MIRROR gets a copy of every packet that is passed on, but of the share MISSED of the segments with payload, as the mirror port of
a switch that cannot keep up. For kernels without the netem queueing discipline. Only the path is bad: both TCP stacks are the kernel's own.
"""
import random
import select
import socket
import sys
import time

PACKET_OUTGOING = 4
HOLD_SECONDS = 0.004  # a packet that is overtaken by others


def has_payload(frame: bytes) -> bool:
    if frame[12:14] != b"\x08\x00" or frame[23] != 6:
        return False
    ip = (frame[14] & 15) * 4
    tcp = (frame[14 + ip + 12] >> 4) * 4
    return int.from_bytes(frame[16:18], "big") > ip + tcp


def main() -> None:
    names, (loss, reorder, duplicate) = sys.argv[1:3], map(float, sys.argv[3:6])
    dice = random.Random(7)
    sockets = []
    for name in names:
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        s.bind((name, 0))
        sockets.append(s)
    other = {sockets[0]: sockets[1], sockets[1]: sockets[0]}
    mirror, missed, mirror_dice = None, 0.0, random.Random(8)
    if len(sys.argv) > 6:
        missed = float(sys.argv[7])
        mirror = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # hears nothing
        mirror.bind((sys.argv[6], 0))

    def pass_on(out: socket.socket, frame: bytes) -> None:
        out.send(frame)
        if mirror and not (has_payload(frame) and mirror_dice.random() < missed):
            mirror.send(frame)

    held = []  # (due, socket, frame)
    print("wire ready", flush=True)
    while True:
        wait = max(0.0, held[0][0] - time.monotonic()) if held else 1.0
        for s in select.select(sockets, [], [], wait)[0]:
            frame, address = s.recvfrom(1 << 16)
            if address[2] == PACKET_OUTGOING:
                continue
            out = other[s]
            throw = dice.random() if has_payload(frame) else 1.0
            if throw < loss:
                continue
            if throw < loss + reorder:
                held.append((time.monotonic() + HOLD_SECONDS, out, frame))
                continue
            pass_on(out, frame)
            if throw < loss + reorder + duplicate:
                pass_on(out, frame)
        while held and held[0][0] <= time.monotonic():
            _, out, frame = held.pop(0)
            pass_on(out, frame)


main()
