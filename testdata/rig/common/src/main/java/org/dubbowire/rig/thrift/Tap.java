package org.dubbowire.rig.thrift;

import java.io.ByteArrayOutputStream;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolDecorator;
import org.apache.thrift.transport.TFramedTransport;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportException;
import org.dubbowire.rig.truth.Ends;
import org.dubbowire.rig.truth.ThriftMessages;

/** A transport around a protocol's own: it passes everything on, and logs each message that was written when it is flushed. */
final class Tap extends TTransport {
    private final TTransport delegate;
    private final boolean compact;
    private final ByteArrayOutputStream written = new ByteArrayOutputStream();

    private Tap(TTransport delegate, boolean compact) {
        this.delegate = delegate;
        this.compact = compact;
    }

    /** Dubbo makes its transports itself, so they are changed after that. */
    static void into(TProtocol protocol) {
        while (protocol instanceof TProtocolDecorator) {
            protocol = (TProtocol) get(TProtocolDecorator.class, "concreteProtocol", protocol);
        }
        if (protocol.getTransport() instanceof Tap) {
            return;
        }
        try {
            field(TProtocol.class, "trans_").set(protocol, new Tap(protocol.getTransport(), protocol instanceof TCompactProtocol));
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Field field(Class<?> type, String name) {
        try {
            Field field = type.getDeclaredField(name);
            field.setAccessible(true);
            return field;
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object get(Class<?> type, String name, Object from) {
        try {
            return field(type, name).get(from);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Null where a selector writes for the transport. */
    private Ends ends() {
        TTransport below = delegate instanceof TFramedTransport ? (TTransport) get(TFramedTransport.class, "transport_", delegate) : delegate;
        if (!(below instanceof TSocket)) {
            return null;
        }
        Socket socket = ((TSocket) below).getSocket();
        return new Ends((InetSocketAddress) socket.getLocalSocketAddress(), (InetSocketAddress) socket.getRemoteSocketAddress());
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws TTransportException {
        written.write(bytes, from, length);
        delegate.write(bytes, from, length);
    }

    @Override
    public void flush() throws TTransportException {
        ThriftMessages.sent(ends(), compact, delegate instanceof TFramedTransport, written.toByteArray());
        written.reset();
        delegate.flush();
    }

    @Override
    public boolean isOpen() {
        return delegate.isOpen();
    }

    @Override
    public void open() throws TTransportException {
        delegate.open();
    }

    @Override
    public void close() {
        delegate.close();
    }

    @Override
    public int read(byte[] bytes, int from, int length) throws TTransportException {
        return delegate.read(bytes, from, length);
    }

    @Override
    public byte[] getBuffer() {
        return delegate.getBuffer();
    }

    @Override
    public int getBufferPosition() {
        return delegate.getBufferPosition();
    }

    @Override
    public int getBytesRemainingInBuffer() {
        return delegate.getBytesRemainingInBuffer();
    }

    @Override
    public void consumeBuffer(int length) {
        delegate.consumeBuffer(length);
    }
}
