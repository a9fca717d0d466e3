package sun.nio.ch;

import java.io.FileDescriptor;
import java.io.IOException;

/**
 * The JDK's class of this name (Java 17) with a tap: all bytes of TCP go through it, whether a channel, a java.net.Socket, Netty, Tomcat, Jetty or the
 * JDK's HTTP client reads and writes them. It takes the place of the JDK's with --patch-module.
 */
class SocketDispatcher extends NativeDispatcher {
    static {
        IOUtil.load();
    }

    SocketDispatcher() {
    }

    @Override
    int read(FileDescriptor fd, long address, int length) throws IOException {
        int n = read0(fd, address, length);
        SocketTap.read(fd, address, n);
        return n;
    }

    @Override
    long readv(FileDescriptor fd, long address, int buffers) throws IOException {
        long n = readv0(fd, address, buffers);
        SocketTap.readv(fd, address, n);
        return n;
    }

    @Override
    int write(FileDescriptor fd, long address, int length) throws IOException {
        synchronized (SocketTap.of(fd)) { // so that what the write causes is seen after it
            int n = FileDispatcherImpl.write0(fd, address, length);
            SocketTap.written(fd, address, n);
            return n;
        }
    }

    @Override
    long writev(FileDescriptor fd, long address, int buffers) throws IOException {
        synchronized (SocketTap.of(fd)) {
            long n = FileDispatcherImpl.writev0(fd, address, buffers);
            SocketTap.writtenv(fd, address, n);
            return n;
        }
    }

    @Override
    void close(FileDescriptor fd) throws IOException {
        SocketTap.closed(fd);
        FileDispatcherImpl.close0(fd);
    }

    @Override
    void preClose(FileDescriptor fd) throws IOException {
        SocketTap.closed(fd);
        FileDispatcherImpl.preClose0(fd);
    }

    private static native int read0(FileDescriptor fd, long address, int length) throws IOException;

    private static native long readv0(FileDescriptor fd, long address, int buffers) throws IOException;
}
