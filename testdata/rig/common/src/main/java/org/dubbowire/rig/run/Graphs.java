package org.dubbowire.rig.run;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.dubbowire.rig.models.*;
import org.dubbowire.rig.truth.BodyLine;
import org.dubbowire.rig.truth.Recorder;

/**
 * Bodies of requests and responses with random graphs of the models, as Dubbo's codec writes them, without peers: main of a JVM with the
 * jars of one release. Arguments: a name for the
 * dialect, release, serialization, seed, number of bodies, what is special ("plain" for nothing, "registered", "skewed", "annotated",
 * "annotated-skewed", "reflected", "reflected-skewed", "tagged").
 */
public final class Graphs {
    private final String release;
    private final String serialization;
    private final String dialect;
    private final long seed;
    private final Class<?> service;
    private Random random;
    private boolean broken; // writing or reading the last body ended with an exception
    private final Class<?> url;
    private final Object extension;
    private final Class<?> extensionType;

    private Graphs(String dialect, String release, String serialization, long seed, String special) throws Exception {
        this.release = release;
        this.serialization = serialization;
        this.dialect = dialect;
        this.seed = seed;
        String models = "org.dubbowire.rig.models.";
        service = Class.forName(switch (special) {
            case "skewed" -> models + "skew.SkewService";
            case "reflected", "reflected-skewed" -> models + "reflected.ReflectedService";
            case "annotated", "annotated-skewed" -> models + "annotated.Kryo" + (release.startsWith("3") ? 5 : 4) + "Service";
            case "tagged" -> models + "stuff.StuffService";
            default -> models + "Service";
        });
        String dubbo = release.compareTo("2.7") < 0 ? "com.alibaba.dubbo" : "org.apache.dubbo";
        url = Class.forName(dubbo + ".common.URL");
        extensionType = Class.forName(dubbo + ".common.serialize.Serialization");
        if (special.equals("registered")) {
            Class<?> registry = Class.forName(dubbo + ".common.serialize.support.SerializableClassRegistry");
            for (Class<?> c : Models.REGISTERED) {
                registry.getMethod("registerClass", Class.class).invoke(null, c);
            }
            // Dubbo 3 keeps them in an order of its own
            Object all = registry.getMethod("getRegisteredClasses").invoke(null);
            (all instanceof Map<?, ?> map ? map.keySet() : (Set<?>) all).forEach(c -> System.err.println("registered " + ((Class<?>) c).getName()));
        }
        Object loader = Class.forName(dubbo + ".common.extension.ExtensionLoader").getMethod("getExtensionLoader", Class.class).invoke(null, extensionType);
        extension = loader.getClass().getMethod("getExtension", String.class).invoke(loader, serialization);
        if (serialization.startsWith("fury")) {
            allowAll();
        }
    }

    /** Fury asks Dubbo which classes are allowed; an application configures that. */
    private static void allowAll() throws Exception {
        Class<?> model = Class.forName("org.apache.dubbo.rpc.model.FrameworkModel");
        Object beans = model.getMethod("getBeanFactory").invoke(model.getMethod("defaultModel").invoke(null));
        Class<?> manager = Class.forName("org.apache.dubbo.common.utils.SerializeSecurityManager");
        Class<?> status = Class.forName("org.apache.dubbo.common.utils.SerializeCheckStatus");
        Method set = manager.getDeclaredMethod("setCheckStatus", status);
        set.setAccessible(true);
        Object bean = beans.getClass().getMethod("getOrRegisterBean", Class.class).invoke(beans, manager);
        set.invoke(bean, status.getField("DISABLE").get(null));
    }

    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what libraries print
        Graphs graphs = new Graphs(args[0], args[1], args[2], Long.parseLong(args[3]), args[5]);
        int failed = 0;
        Map<String, Integer> failures = new TreeMap<>();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        for (int i = 0; i < Integer.parseInt(args[4]); i++) {
            int n = i;
            graphs.broken = false;
            try {
                out.println(thread.submit(() -> graphs.body(n)).get());
            } catch (ExecutionException e) {
                graphs.broken = true;
                Throwable cause = e;
                while (cause.getCause() != null && cause.getCause() != cause) {
                    cause = cause.getCause();
                }
                failures.merge(cause.toString().lines().findFirst().orElse(""), 1, Integer::sum);
                failed++;
            }
            if (graphs.broken) {
                // A Kryo belongs to a thread. After an exception Kryo 5 keeps the classes of type variables, and leaves these
                // classes out of later objects, which no other Kryo can read.
                thread.shutdown();
                thread = Executors.newSingleThreadExecutor();
            }
        }
        out.flush();
        System.err.println(graphs.dialect + ": " + failed + " values cannot be written");
        failures.forEach((text, n) -> System.err.println("  " + n + " " + text));
        System.exit(0);
    }

    /** The n-th body has the same values in every dialect. */
    private String body(int n) throws Exception {
        random = new Random(seed * 1_000_003 + n);
        Models models = new Models(random.nextLong(), service);
        Method method = models.method();
        boolean request = random.nextBoolean();
        boolean attachmentsWithResult = release.compareTo("2.6.3") >= 0;
        String version = attachmentsWithResult ? "2.0.2" : release;
        Map<String, Object> attachments = attachments();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Recorder recorder = Recorder.begin(() -> 0);
        List<Recorder.Recording> recordings = recorder.recordings;
        Throwable thrown = null;
        try {
            Object out = call(extension, extensionType, "serialize", new Class<?>[] {url, OutputStream.class}, null, stream(bytes));
            Class<?> output = Class.forName(extensionType.getPackageName() + ".ObjectOutput");
            if (request) {
                for (String s : new String[] {version, method.getDeclaringClass().getName(), "0.0.0", method.getName(), descriptor(method)}) {
                    call(out, output, "writeUTF", new Class<?>[] {String.class}, s);
                }
                for (Type t : method.getGenericParameterTypes()) {
                    call(out, output, "writeObject", new Class<?>[] {Object.class}, models.value(t));
                }
                attachments.put("path", method.getDeclaringClass().getName());
                attachments.put("interface", method.getDeclaringClass().getName());
            } else {
                boolean fails = random.nextInt(12) == 0;
                Object value = fails ? models.throwable() : models.value(method.getGenericReturnType());
                int flag = (attachmentsWithResult ? 3 : 0) + (fails ? 0 : value == null ? 2 : 1);
                call(out, output, "writeByte", new Class<?>[] {byte.class}, (byte) flag);
                if (fails && has(output, "writeThrowable")) {
                    call(out, output, "writeThrowable", new Class<?>[] {release.startsWith("2.") || has(output, "writeThrowable", Object.class) ? Object.class : Throwable.class}, value);
                } else if (fails || value != null) {
                    call(out, output, "writeObject", new Class<?>[] {Object.class}, value);
                }
                attachments.put("dubbo", version);
            }
            if (request || attachmentsWithResult) {
                if (has(output, "writeAttachments")) {
                    call(out, output, "writeAttachments", new Class<?>[] {Map.class}, attachments);
                } else {
                    call(out, output, "writeObject", new Class<?>[] {Object.class}, attachments);
                }
            }
            call(out, output, "flushBuffer", new Class<?>[0]);
            cleanUp(out);
        } finally {
            recorder.end();
        }
        Recorder.Recording written = recordings.get(0);
        Map<String, Object> said = BodyLine.said();
        said.put("dialect", dialect);
        said.put("serialization", serialization);
        said.put("release", release);
        said.put("n", n);
        if (!request) {
            said.put("service", method.getDeclaringClass().getName());
            said.put("method", method.getName());
            said.put("descriptors", Arrays.stream(method.getParameterTypes()).map(Class::descriptorString).toList());
        }
        said.put("declared", request ? Arrays.stream(method.getGenericParameterTypes()).map(Type::getTypeName).toList() : method.getGenericReturnType().getTypeName());
        return BodyLine.of(said, bytes.toByteArray(), request, written, read(bytes.toByteArray(), written));
    }

    /** Java's own second opinion of the same bytes: the calls that wrote them, as calls that read. */
    private Recorder.Recording read(byte[] body, Recorder.Recording written) {
        Recorder recorder = Recorder.begin(() -> 0);
        Object in = null;
        try {
            in = call(extension, extensionType, "deserialize", new Class<?>[] {url, InputStream.class}, null, stream(new ByteArrayInputStream(body)));
            Class<?> input = Class.forName(extensionType.getPackageName() + ".ObjectInput");
            for (Recorder.Op op : written.ops) {
                switch (op.name()) {
                    case "utf" -> call(in, input, "readUTF", new Class<?>[0]);
                    case "byte" -> call(in, input, "readByte", new Class<?>[0]);
                    case "attachments" -> call(in, input, "readAttachments", new Class<?>[0]);
                    default -> {
                        if (op.value() instanceof Throwable && has(input, "readThrowable")) {
                            call(in, input, "readThrowable", new Class<?>[0]);
                        } else if (op.value() == null) {
                            call(in, input, "readObject", new Class<?>[0]);
                        } else {
                            call(in, input, "readObject", new Class<?>[] {Class.class}, op.value().getClass());
                        }
                    }
                }
            }
        } catch (Exception | Error e) { // a length that was misread takes all memory
            Recorder.Recording failed = recorder.recordings.isEmpty() ? null : recorder.recordings.get(0);
            if (failed == null) {
                throw new IllegalStateException(e);
            }
            failed.fail(e instanceof InvocationTargetException i ? i.getCause() : e);
            broken = true;
        } finally {
            recorder.end();
            cleanUp(in);
        }
        return recorder.recordings.get(0);
    }

    /** Fury writes other lengths to a ByteArrayOutputStream than to the streams of a connection. */
    private OutputStream stream(ByteArrayOutputStream bytes) {
        return serialization.startsWith("fury") ? new java.io.FilterOutputStream(bytes) : bytes;
    }

    private InputStream stream(ByteArrayInputStream bytes) {
        return serialization.startsWith("fury") ? new java.io.BufferedInputStream(bytes) : bytes;
    }

    /** As the codecs do after a body. */
    private static void cleanUp(Object stream) {
        try {
            Class<?> cleanable = Arrays.stream(stream == null ? new Class<?>[0] : stream.getClass().getInterfaces())
                .filter(c -> c.getSimpleName().equals("Cleanable")).findAny().orElse(null);
            if (cleanable != null) {
                call(stream, cleanable, "cleanup", new Class<?>[0]);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Map<String, Object> attachments() {
        Map<String, Object> attachments = new HashMap<>();
        for (int i = random.nextInt(3); i > 0; i--) {
            attachments.put("key" + random.nextInt(20), "value " + random.nextInt(1000));
        }
        return attachments;
    }

    private static boolean has(Class<?> type, String name, Class<?>... parameters) {
        return Arrays.stream(type.getMethods()).anyMatch(m -> m.getName().equals(name) && (parameters.length == 0 || Arrays.equals(m.getParameterTypes(), parameters)));
    }

    private static Object call(Object target, Class<?> type, String name, Class<?>[] parameters, Object... arguments) throws Exception {
        return type.getMethod(name, parameters).invoke(target, arguments);
    }

    private static String descriptor(Method method) {
        String all = MethodType.methodType(void.class, method.getParameterTypes()).toMethodDescriptorString();
        return all.substring(1, all.indexOf(')'));
    }
}
