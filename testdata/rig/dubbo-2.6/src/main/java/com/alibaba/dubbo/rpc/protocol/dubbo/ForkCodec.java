package com.alibaba.dubbo.rpc.protocol.dubbo;

import com.alibaba.dubbo.common.Constants;
import com.alibaba.dubbo.common.io.Bytes;
import com.alibaba.dubbo.common.serialize.ObjectOutput;
import com.alibaba.dubbo.common.utils.ReflectUtils;
import com.alibaba.dubbo.remoting.Channel;
import com.alibaba.dubbo.remoting.exchange.Request;
import com.alibaba.dubbo.rpc.RpcInvocation;
import java.io.IOException;
import java.io.InputStream;

/**
 * Dubbo's codec with the request bodies of forks of Dubbo, on Dubbo's own serializations. No jar of the forks is served: their order
 * of fields is that of their sources, written anew. This package, since Dubbo's codec for callbacks is visible only here.
 */
public final class ForkCodec extends DubboCodec {
    /** Forks of this name, or a made-up one. */
    public enum Layout {
        /** Dubbox 2.8.4: the number of arguments in place of their types, or -1 and the types. */
        DUBBOX,
        /** Earlier Dubbox: the number of arguments, or -1 and nothing. Only of kryo and fst. */
        OLDER_DUBBOX,
        /** A fork that nobody knows: a deadline and the name of the caller before the types. */
        UNKNOWN
    }

    static final int KRYO = 8;
    static final int FST = 9;
    static final String RELEASE = "2.8.4";
    private static final long DEADLINE = 1_700_000_000_000L;
    private static final String CALLER = "checkout of Jane Doe, cart 4711";
    private final Layout layout;

    public ForkCodec(String layout) {
        this.layout = Layout.valueOf(layout);
    }

    /** 2.6.0 to 2.6.2 call this, later releases the next one. */
    @Override
    protected void encodeRequestData(Channel channel, ObjectOutput out, Object data) throws IOException {
        RpcInvocation inv = (RpcInvocation) data;
        out.writeUTF(RELEASE);
        out.writeUTF(inv.getAttachment(Constants.PATH_KEY));
        out.writeUTF(inv.getAttachment(Constants.VERSION_KEY));
        out.writeUTF(inv.getMethodName());
        byte id = getSerialization(channel).getContentTypeId();
        if (layout == Layout.UNKNOWN) {
            out.writeLong(DEADLINE);
            out.writeUTF(CALLER);
            out.writeUTF(ReflectUtils.getDesc(inv.getParameterTypes()));
        } else if ((id == KRYO || id == FST) && typesTold(inv)) {
            out.writeInt(inv.getParameterTypes().length);
        } else {
            out.writeInt(-1);
            if (layout == Layout.DUBBOX) {
                out.writeUTF(ReflectUtils.getDesc(inv.getParameterTypes()));
            }
        }
        Object[] arguments = inv.getArguments();
        for (int i = 0; arguments != null && i < arguments.length; i++) {
            out.writeObject(CallbackServiceCodec.encodeInvocationArgument(channel, inv, i));
        }
        out.writeObject(inv.getAttachments());
    }

    protected void encodeRequestData(Channel channel, ObjectOutput out, Object data, String version) throws IOException {
        encodeRequestData(channel, out, data);
    }

    /** Every argument tells its type: none is null, or of a class derived from the parameter's. */
    private static boolean typesTold(RpcInvocation inv) {
        Object[] arguments = inv.getArguments();
        for (int i = 0; i < inv.getParameterTypes().length; i++) {
            if (arguments[i] == null || arguments[i].getClass() != inv.getParameterTypes()[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    protected Object decodeBody(Channel channel, InputStream in, byte[] header) throws IOException {
        if ((header[2] & FLAG_REQUEST) == 0 || (header[2] & FLAG_EVENT) != 0) {
            return super.decodeBody(channel, in, header);
        }
        Request request = new Request(Bytes.bytes2long(header, 4));
        request.setVersion("2.0.0");
        request.setTwoWay((header[2] & FLAG_TWOWAY) != 0);
        try {
            ForkInvocation invocation = new ForkInvocation(channel, request, in, (byte) (header[2] & SERIALIZATION_MASK), layout);
            invocation.decode();
            request.setData(invocation);
        } catch (Throwable t) {
            request.setBroken(true);
            request.setData(t);
        }
        return request;
    }
}
