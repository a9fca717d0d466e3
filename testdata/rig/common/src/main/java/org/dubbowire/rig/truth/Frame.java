package org.dubbowire.rig.truth;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A piece of what one encode or decode call produced or consumed: a Dubbo frame, or text for the telnet fallback. */
public record Frame(byte[] all, int offset, int length, boolean isDubbo) {
    public static final int HEADER = 16;

    public static List<Frame> split(byte[] all) {
        List<Frame> frames = new ArrayList<>();
        int at = 0;
        while (at < all.length) {
            boolean dubbo = magic(all, at) && all.length - at >= HEADER;
            int end;
            if (dubbo) {
                // A receiver with a smaller limit consumes only the header of a frame it refuses.
                end = (int) Math.min(all.length, (long) at + HEADER + ByteBuffer.wrap(all).getInt(at + 12));
            } else {
                end = at + 1;
                while (end < all.length && !magic(all, end)) {
                    end++;
                }
            }
            frames.add(new Frame(all, at, end - at, dubbo));
            at = end;
        }
        return frames;
    }

    public static boolean startsWithMagic(byte[] all) {
        return magic(all, 0);
    }

    private static boolean magic(byte[] b, int at) {
        return at + 1 < b.length && b[at] == (byte) 0xda && b[at + 1] == (byte) 0xbb;
    }

    public int flags() {
        return all[offset + 2] & 0xff;
    }

    public int status() {
        return all[offset + 3] & 0xff;
    }

    public long id() {
        return ByteBuffer.wrap(all).getLong(offset + 4);
    }

    public int bodyBytes() {
        return ByteBuffer.wrap(all).getInt(offset + 12);
    }
}
