package dubbowire;

import java.io.IOException;
import java.io.OutputStream;

/** A way to write a message as the body of a frame. */
interface Target {
    /** Writes the body. What it throws is the cause why this target could not be used. */
    void encode(Message m, OutputStream out) throws Throwable;

    /** Reads what encode has written, as a peer would; for the time it takes. */
    void decode(Message m, byte[] body) throws Throwable;

    /** The body of one message: bounded, and counted where nobody keeps it. */
    final class Body extends OutputStream {
        private byte[] bytes = new byte[1 << 12];
        private int size;
        private final int most;

        Body(int most) {
            this.most = most;
        }

        void reset() {
            size = 0;
            if (bytes.length > 1 << 22) {
                bytes = new byte[1 << 12];
            }
        }

        int size() {
            return size;
        }

        byte[] array() {
            return bytes;
        }

        byte[] copy() {
            return java.util.Arrays.copyOf(bytes, size);
        }

        private void room(int more) throws IOException {
            if (more > most - size) {
                throw new TooLarge();
            }
            if (size + more > bytes.length) {
                bytes = java.util.Arrays.copyOf(bytes, (int) Math.min(most, Math.max(bytes.length * 2L, size + more)));
            }
        }

        @Override
        public void write(int b) throws IOException {
            room(1);
            bytes[size++] = (byte) b;
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
            room(len);
            System.arraycopy(b, off, bytes, size, len);
            size += len;
        }
    }

    final class TooLarge extends IOException {
        private static final long serialVersionUID = 1L;

        TooLarge() {
            super("too large");
        }
    }
}
