package dubbowire;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** Dubbo of any release from 2.5 to 3, by reflection: its codec and its serializations. */
final class Dubbo {
    /** Version of the protocol since which responses have attachments, and one before. */
    private static final String WITH_ATTACHMENTS = "2.0.2", WITHOUT_ATTACHMENTS = "2.0.1";

    private final ClassLoader loader = Dubbo.class.getClassLoader();
    private final String root;
    private final Object codec, url;
    private final Method encodeRequest, encodeResponse;
    private final Class<?> serialization, output, input, cleanable, invocation, answer;
    private final Method serialize, deserialize, flush, writeObject, cleanUp;
    private final Map<String, Field> fields = new HashMap<>();
    /** Texts of addresses that are equal are the same object, as in Dubbo 3. */
    private final boolean interns;

    Dubbo() throws ReflectiveOperationException {
        String found;
        try {
            Class.forName("org.apache.dubbo.rpc.RpcInvocation", false, loader);
            found = "org.apache.dubbo.";
        } catch (ClassNotFoundException e) {
            found = "com.alibaba.dubbo.";
        }
        root = found;
        invocation = load("rpc.RpcInvocation");
        Class<?> result;
        try {
            result = load("rpc.AppResponse");
        } catch (ClassNotFoundException e) {
            result = load("rpc.RpcResult");
        }
        answer = result;
        Class<?> codecType = load("rpc.protocol.dubbo.DubboCodec");
        codec = codec(codecType);
        serialization = load("common.serialize.Serialization");
        output = load("common.serialize.ObjectOutput");
        input = load("common.serialize.ObjectInput");
        Class<?> channel = load("remoting.Channel"), address = load("common.URL");
        url = address.getMethod("valueOf", String.class).invoke(null, "dubbo://127.0.0.1:20880/");
        encodeRequest = encoder(codecType, "encodeRequestData", channel);
        encodeResponse = encoder(codecType, "encodeResponseData", channel);
        serialize = serialization.getMethod("serialize", address, OutputStream.class);
        deserialize = serialization.getMethod("deserialize", address, InputStream.class);
        flush = output.getMethod("flushBuffer");
        writeObject = output.getMethod("writeObject", Object.class);
        Class<?> clean;
        try {
            clean = load("common.serialize.Cleanable");
        } catch (ClassNotFoundException e) {
            clean = null;
        }
        cleanable = clean;
        cleanUp = clean == null ? null : clean.getMethod("cleanup");
        boolean cached;
        try {
            load("common.url.component.URLItemCache");
            cached = true;
        } catch (ClassNotFoundException e) {
            cached = false;
        }
        interns = cached;
        allowAll();
    }

    private Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(root + name, true, loader);
    }

    private Object codec(Class<?> type) throws ReflectiveOperationException {
        for (Constructor<?> c : type.getConstructors()) {
            if (c.getParameterTypes().length == 0) {
                return c.newInstance();
            }
        }
        Class<?> model = load("rpc.model.FrameworkModel");
        return type.getConstructor(model).newInstance(model.getMethod("defaultModel").invoke(null));
    }

    /** Since 3.2 classes have to be on a list, onto which a provider and a consumer put those of their interfaces. */
    private void allowAll() {
        try {
            Class<?> manager = load("common.utils.SerializeSecurityManager"), status = load("common.utils.SerializeCheckStatus");
            Object model = load("rpc.model.FrameworkModel").getMethod("defaultModel").invoke(null);
            Object beans = model.getClass().getMethod("getBeanFactory").invoke(model);
            Object bean = beans.getClass().getMethod("getBean", Class.class).invoke(beans, manager);
            manager.getMethod("setCheckStatus", status).invoke(bean, status.getField("DISABLE").get(null));
        } catch (ReflectiveOperationException e) {
            return; // a release without the list
        }
    }

    /** Since 2.6.3 with the version of the request. */
    private Method encoder(Class<?> type, String name, Class<?> channel) throws ReflectiveOperationException {
        Method m;
        try {
            m = type.getDeclaredMethod(name, channel, output, Object.class, String.class);
        } catch (NoSuchMethodException e) {
            m = type.getDeclaredMethod(name, channel, output, Object.class);
        }
        m.setAccessible(true);
        return m;
    }

    /** Gives the classes numbers, as a SerializationOptimizer does; before a serialization is used for the first time. */
    void register(Classes classes, String[] names) throws ReflectiveOperationException, Failure {
        if (names.length == 0) {
            return;
        }
        Method register;
        try {
            register = load("common.serialize.support.SerializableClassRegistry").getMethod("registerClass", Class.class);
        } catch (ClassNotFoundException e) {
            throw new Failure("this release of Dubbo registers no classes");
        }
        for (String name : names) {
            register.invoke(null, classes.find(name));
        }
    }

    /** A serialization by the name that Dubbo's configuration has for it. */
    Object extension(String name) throws Throwable {
        try {
            Object extensions = load("common.extension.ExtensionLoader").getMethod("getExtensionLoader", Class.class).invoke(null, serialization);
            return extensions.getClass().getMethod("getExtension", String.class).invoke(extensions, name);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    void set(Object object, String name, Object value) throws ReflectiveOperationException {
        Field f = fields.get(object.getClass().getName() + "." + name);
        if (f == null) {
            for (Class<?> c = object.getClass(); c != null && f == null; c = c.getSuperclass()) {
                for (Field declared : c.getDeclaredFields()) {
                    f = declared.getName().equals(name) ? declared : f;
                }
            }
            if (f == null) {
                return; // of another release
            }
            f.setAccessible(true);
            fields.put(object.getClass().getName() + "." + name, f);
        }
        f.set(object, value);
    }

    /** The invocation that the codec takes. Its attachments are the map that was on the wire. */
    private Object invocation(Message m) throws ReflectiveOperationException {
        Object made = invocation.getConstructor().newInstance();
        set(made, "methodName", m.method);
        set(made, "parameterTypes", m.signature.classes);
        set(made, "parameterTypesDesc", m.signature.descriptor);
        set(made, "arguments", m.objects);
        Map<String, Object> attachments = m.attachments == null ? new HashMap<>() : m.attachments;
        if (!attachments.containsKey("path") && !attachments.containsKey("interface")) { // of a protocol whose address has them
            attachments = new HashMap<>(attachments);
            attachments.put("path", m.service);
            attachments.put("interface", m.service);
            attachments.put("version", m.serviceVersion == null || m.serviceVersion.isEmpty() ? "0.0.0" : m.serviceVersion);
        }
        if (interns && attachments.getClass() == HashMap.class) {
            Object path = attachments.get("path");
            if (path instanceof String && path.equals(attachments.get("interface"))) {
                attachments.put("interface", path); // most formats do not tell that it is the same object
            }
            Map<String, Object> copy = new HashMap<>(attachments); // what Dubbo 3 writes is a copy, whose capacity Java writes
            if (new ArrayList<>(copy.keySet()).equals(new ArrayList<>(attachments.keySet()))) {
                attachments = copy;
            }
        }
        set(made, "attachments", attachments);
        return made;
    }

    private Object answer(Message m) throws ReflectiveOperationException {
        Object made = answer.getConstructor().newInstance();
        set(made, m.isException() ? "exception" : "result", m.result());
        set(made, "attachments", m.attachments == null ? new HashMap<>() : m.attachments);
        return made;
    }

    private static String version(Message m) {
        boolean said = m.dubboVersion != null && !m.dubboVersion.isEmpty();
        if (!m.response) {
            return said ? m.dubboVersion : WITH_ATTACHMENTS;
        }
        // A response of Triple has no kind; one of Dubbo has attachments from kind 3 on.
        return m.resultKind >= 3 || !said && m.service != null ? WITH_ATTACHMENTS : WITHOUT_ATTACHMENTS;
    }

    /** The dubbo protocol with one of its serializations. */
    Target target(Object extension) {
        return new Target() {
            @Override
            public void encode(Message m, OutputStream out) throws Throwable {
                Object data = m.response ? answer(m) : invocation(m);
                write(extension, out, stream -> {
                    Method encoder = m.response ? encodeResponse : encodeRequest;
                    if (encoder.getParameterTypes().length == 4) {
                        encoder.invoke(codec, null, stream, data, version(m));
                    } else {
                        encoder.invoke(codec, null, stream, data);
                    }
                });
            }

            @Override
            public void decode(Message m, byte[] body) throws Throwable {
                Object in = deserialize.invoke(extension, url, input(body, 0, body.length));
                if (m.response) {
                    int kind = (Byte) call(in, "readByte");
                    if (kind % 3 == 0) {
                        readThrowable(in);
                    } else if (kind % 3 == 1) {
                        readResult(in, m.signature.result);
                    }
                    if (kind >= 3) {
                        readAttachments(in);
                    }
                } else {
                    for (int i = 0; i < 5; i++) {
                        call(in, "readUTF");
                    }
                    for (Class<?> c : m.signature.classes) {
                        read(in, c);
                    }
                    readAttachments(in);
                }
                clean(in);
            }
        };
    }

    /** Bytes to read. Fury would take the array of a ByteArrayInputStream itself as its buffer, and write to it. */
    static InputStream input(byte[] bytes, int from, int length) {
        return new ByteArrayInputStream(bytes, from, length) { };
    }

    interface Writing {
        void to(Object stream) throws Throwable;
    }

    private void write(Object extension, OutputStream out, Writing writing) throws Throwable {
        Object stream = serialize.invoke(extension, url, out);
        writing.to(stream);
        flush.invoke(stream);
        clean(stream);
    }

    /** One value, as Triple writes it into its wrapper. */
    void writeValue(Object extension, Object value, OutputStream out) throws Throwable {
        write(extension, out, stream -> writeObject.invoke(stream, value));
    }

    void readValue(Object extension, Class<?> type, InputStream bytes) throws Throwable {
        Object in = deserialize.invoke(extension, url, bytes);
        read(in, type);
        clean(in);
    }

    private void clean(Object stream) throws ReflectiveOperationException {
        if (cleanable != null && cleanable.isInstance(stream)) {
            cleanUp.invoke(stream);
        }
    }

    private final Map<String, Method> reads = new HashMap<>();

    private Object call(Object in, String name) throws ReflectiveOperationException {
        Method m = reads.get(name);
        if (m == null) {
            m = input.getMethod(name);
            reads.put(name, m);
        }
        return m.invoke(in);
    }

    private Object read(Object in, Class<?> type) throws ReflectiveOperationException {
        Method m = reads.get("readObject(Class)");
        if (m == null) {
            m = input.getMethod("readObject", Class.class);
            reads.put("readObject(Class)", m);
        }
        return m.invoke(in, type);
    }

    private void readResult(Object in, Type type) throws ReflectiveOperationException {
        Method m = reads.get("readObject(Class, Type)");
        if (m == null) {
            m = input.getMethod("readObject", Class.class, Type.class);
            reads.put("readObject(Class, Type)", m);
        }
        m.invoke(in, Generics.raw(type), type);
    }

    private void readAttachments(Object in) throws ReflectiveOperationException {
        try {
            call(in, "readAttachments");
        } catch (NoSuchMethodException e) { // before 2.7.4
            read(in, Map.class);
        }
    }

    private void readThrowable(Object in) throws ReflectiveOperationException {
        try {
            call(in, "readThrowable");
        } catch (NoSuchMethodException e) {
            call(in, "readObject");
        }
    }

    static Map<String, Object> attachments(Message m) {
        return m.attachments == null ? Collections.emptyMap() : m.attachments;
    }
}
