package com.alibaba.dubbo.rpc.protocol.dubbo;

import com.alibaba.dubbo.common.Constants;
import com.alibaba.dubbo.common.serialize.ObjectInput;
import com.alibaba.dubbo.common.utils.ReflectUtils;
import com.alibaba.dubbo.remoting.Channel;
import com.alibaba.dubbo.remoting.exchange.Request;
import com.alibaba.dubbo.remoting.transport.CodecSupport;
import com.alibaba.dubbo.rpc.service.EchoService;
import com.alibaba.dubbo.rpc.service.GenericService;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Map;

/** A request of a {@link ForkCodec} as its receiver reads it. */
final class ForkInvocation extends DecodeableRpcInvocation {
    private final byte serialization;
    private final ForkCodec.Layout layout;

    ForkInvocation(Channel channel, Request request, InputStream in, byte serialization, ForkCodec.Layout layout) {
        super(channel, request, in, serialization);
        this.serialization = serialization;
        this.layout = layout;
    }

    @Override
    public Object decode(Channel channel, InputStream input) throws IOException {
        ObjectInput in = CodecSupport.getSerialization(channel.getUrl(), serialization).deserialize(channel.getUrl(), input);
        setAttachment(Constants.DUBBO_VERSION_KEY, in.readUTF());
        setAttachment(Constants.PATH_KEY, in.readUTF());
        setAttachment(Constants.VERSION_KEY, in.readUTF());
        setMethodName(in.readUTF());
        int count = -1;
        Class<?>[] types = null;
        try {
            if (layout == ForkCodec.Layout.UNKNOWN) {
                in.readLong();
                in.readUTF();
            } else {
                count = in.readInt();
            }
            if (layout != ForkCodec.Layout.OLDER_DUBBOX && count < 0) {
                types = ReflectUtils.desc2classArray(in.readUTF());
            } else if (count < 0) {
                types = declared(getAttachment(Constants.PATH_KEY), getMethodName());
            }
            Object[] arguments = new Object[types == null ? count : types.length];
            Class<?>[] told = new Class<?>[arguments.length];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = types == null ? in.readObject() : in.readObject(types[i]);
                told[i] = types == null ? arguments[i].getClass() : types[i];
            }
            setParameterTypes(told);
            @SuppressWarnings("unchecked")
            Map<String, String> map = (Map<String, String>) in.readObject(Map.class);
            if (map != null && !map.isEmpty()) {
                addAttachments(map);
            }
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = CallbackServiceCodec.decodeInvocationArgument(channel, this, told, i, arguments[i]);
            }
            setArguments(arguments);
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
        return this;
    }

    /** The parameters of the one method of that name. */
    private static Class<?>[] declared(String service, String name) throws ClassNotFoundException, IOException {
        for (Class<?> type : new Class<?>[] {Class.forName(service), GenericService.class, EchoService.class}) {
            for (Method method : type.getMethods()) {
                if (method.getName().equals(name)) {
                    return method.getParameterTypes();
                }
            }
        }
        throw new IOException("no method " + name + " in " + service);
    }
}
