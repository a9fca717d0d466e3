"""IP in IP between two hosts, for kernels without such devices: tunnel.py DEVICE LOCAL REMOTE

Makes the TUN device, and sends every IP packet that goes out there to REMOTE through a raw socket, as protocol 4 or 41 by its
version. The kernel makes the outer header, and fragments where the outer packet is larger than the link's MTU.
"""
import fcntl
import os
import select
import socket
import struct
import sys

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0
PROTOCOLS = {4: 4, 6: 41}  # by the version of the packet inside


def main():
    name, local, remote = sys.argv[1:4]
    family = socket.AF_INET6 if ":" in local else socket.AF_INET
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    raw = {}
    for protocol in PROTOCOLS.values():
        s = socket.socket(family, socket.SOCK_RAW, protocol)
        s.bind((local, 0))
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        if family == socket.AF_INET:
            s.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)
        raw[protocol] = s
    print("tunnel ready", flush=True)
    while True:
        for ready in select.select([tun, *raw.values()], [], [])[0]:
            if ready == tun:
                packet = os.read(tun, 65536)
                raw[PROTOCOLS[packet[0] >> 4]].sendto(packet, (remote, 0))
                continue
            packet = ready.recv(65536)
            if family == socket.AF_INET:  # the outer header comes along
                packet = packet[(packet[0] & 15) * 4:]
            os.write(tun, packet)


main()
