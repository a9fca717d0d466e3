import java.io.ObjectStreamClass;
import java.io.ObjectStreamField;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * What reflection and ObjectStreamClass say of the classes of the running JDK and of a class path, of each nth one with -Dstep=n, of those that match with -Donly=REGEX: "class NAME", then lines of
 * "key values", then an empty line. A value that Java could not tell begins with an exclamation mark.
 *
 * java --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.io=ALL-UNNAMED --add-modules ALL-SYSTEM
 *   Describe.java FILE [jar or folder...]
 */
public class Describe {
    interface Ask { Object get() throws Throwable; }

    static StringBuilder out;

    static void line(String key, Ask ask) {
        String value;
        try {
            value = String.valueOf(ask.get());
        } catch (Throwable e) {
            value = "!" + e.getClass().getName();
        }
        out.append(key).append(' ').append(value.replace('\n', ' ').replace('\r', ' ')).append('\n');
    }

    static Method declaredFields;
    static final String[] STREAM = {
        "hasWriteObjectMethod", "hasReadObjectMethod", "hasReadObjectNoDataMethod", "hasWriteReplaceMethod", "hasReadResolveMethod",
    };
    static final List<Method> stream = new ArrayList<>();

    public static void main(String[] args) throws Throwable {
        PrintStream to = new PrintStream(args[0], "UTF-8");
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        System.setOut(nowhere);
        System.setErr(nowhere);
        declaredFields = Class.class.getDeclaredMethod("getDeclaredFields0", boolean.class);
        declaredFields.setAccessible(true);
        for (String name : STREAM) {
            Method m = ObjectStreamClass.class.getDeclaredMethod(name);
            m.setAccessible(true);
            stream.add(m);
        }
        Set<String> names = new TreeSet<>();
        Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        Files.walk(modules).filter(p -> p.toString().endsWith(".class")).forEach(p -> add(names, p.subpath(2, p.getNameCount()).toString()));
        URL[] urls = new URL[args.length - 1];
        for (int i = 1; i < args.length; i++) {
            Path path = Paths.get(args[i]);
            urls[i - 1] = path.toUri().toURL();
            if (Files.isDirectory(path)) {
                Files.walk(path).filter(p -> p.toString().endsWith(".class")).forEach(p -> add(names, path.relativize(p).toString()));
                continue;
            }
            try (ZipFile zip = new ZipFile(path.toFile())) {
                for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
                    String name = e.nextElement().getName();
                    if (name.endsWith(".class") && !name.startsWith("META-INF/")) {
                        add(names, name);
                    }
                }
            }
        }
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getSystemClassLoader());
        Thread.currentThread().setContextClassLoader(loader);
        ExecutorService one = executor(loader);
        int step = Integer.getInteger("step", 1), n = 0;
        String only = System.getProperty("only", ".*");
        for (String name : names) {
            if (n++ % step != 0 || !name.matches(only)) {
                continue;
            }
            StringBuilder text = new StringBuilder();
            try { // initializers of classes may wait for something
                one.submit(() -> {
                    out = text;
                    describe(name, loader);
                }).get(20, TimeUnit.SECONDS);
            } catch (Throwable e) {
                one = executor(loader);
                continue;
            }
            to.append(text);
        }
        to.close();
        Runtime.getRuntime().halt(to.checkError() ? 1 : 0);
    }

    static ExecutorService executor(ClassLoader loader) {
        return Executors.newSingleThreadExecutor(r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            t.setContextClassLoader(loader);
            return t;
        });
    }

    static void add(Set<String> names, String path) {
        if (!path.endsWith("module-info.class") && !path.endsWith("package-info.class")) {
            names.add(path.substring(0, path.length() - 6).replace('/', '.'));
        }
    }

    static void describe(String name, ClassLoader loader) {
        Class<?> c;
        try {
            c = Class.forName(name, false, loader);
        } catch (Throwable e) {
            return;
        }
        out.append("class ").append(name).append('\n');
        line("modifiers", c::getModifiers);
        line("super", () -> c.isInterface() ? "java.lang.Object" : c.getSuperclass() == null ? "" : c.getSuperclass().getName());
        line("interfaces", () -> names(c.getInterfaces()));
        line("outer", () -> c.getDeclaringClass() == null ? "" : c.getDeclaringClass().getName());
        line("local", () -> c.isLocalClass() || c.isAnonymousClass());
        line("record", () -> c.isRecord());
        line("enum", () -> c.isEnum());
        line("parameters", () -> parameters(c));
        line("supertypes", () -> {
            StringBuilder s = new StringBuilder();
            s.append(c.isInterface() || c.getSuperclass() == null ? "" : c.getGenericSuperclass().getTypeName());
            for (Type t : c.getGenericInterfaces()) {
                s.append(", ").append(t.getTypeName());
            }
            return s;
        });
        line("constructor", () -> constructor(c));
        line("annotations", () -> annotations(c));
        line("constants", () -> constants(c));
        line("components", () -> {
            StringBuilder s = new StringBuilder();
            if (c.isRecord()) {
                for (var p : c.getRecordComponents()) {
                    s.append(p.getName()).append(' ').append(p.getType().descriptorString()).append(' ');
                }
            }
            return s;
        });
        Field[] fields = null;
        try {
            fields = (Field[]) declaredFields.invoke(c, false);
        } catch (Throwable e) {
            line("field", () -> { throw e.getCause(); });
        }
        if (fields != null) {
            for (Field f : fields) {
                line("field", () -> f.getName() + " " + f.getType().descriptorString() + " " + f.getModifiers());
                line("type", () -> f.getGenericType().getTypeName());
                line("annotations", () -> annotations(f));
            }
        }
        if (!c.isInterface() && (c.getModifiers() & java.lang.reflect.Modifier.ABSTRACT) == 0 && isOptimizer(c)) {
            line("registered", () -> registered(c));
        }
        ObjectStreamClass s;
        try {
            s = ObjectStreamClass.lookupAny(c);
        } catch (Throwable e) {
            line("stream", () -> { throw e; });
            out.append('\n');
            return;
        }
        line("stream", () -> {
            StringBuilder b = new StringBuilder();
            b.append(java.io.Serializable.class.isAssignableFrom(c)).append(' ').append(java.io.Externalizable.class.isAssignableFrom(c));
            for (Method m : stream) {
                b.append(' ').append(m.invoke(s));
            }
            return b;
        });
        line("uid", () -> {
            long uid = s.getSerialVersionUID();
            if (uid != 0) { // a class whose initializer failed before seems to have none
                Class.forName(name, true, loader);
            }
            return uid;
        });
        line("array", () -> ObjectStreamClass.lookupAny(Array.newInstance(c, 0).getClass()).getSerialVersionUID());
        line("written", () -> {
            StringBuilder b = new StringBuilder();
            for (ObjectStreamField f : s.getFields()) {
                b.append(f.getName()).append(' ').append(f.isPrimitive() ? "" + f.getTypeCode() : f.getTypeString()).append(' ');
            }
            return b;
        });
        out.append('\n');
    }

    static boolean isOptimizer(Class<?> c) {
        for (Class<?> i : c.getInterfaces()) {
            if (i.getSimpleName().equals("SerializationOptimizer")) {
                return true;
            }
        }
        return false;
    }

    static String registered(Class<?> c) throws Throwable {
        Constructor<?> make = c.getDeclaredConstructor();
        make.setAccessible(true);
        Method m = c.getMethod("getSerializableClasses");
        m.setAccessible(true);
        StringBuilder s = new StringBuilder();
        Object classes = m.invoke(make.newInstance());
        if (classes != null) {
            for (Object e : (java.util.Collection<?>) classes) {
                s.append(((Class<?>) e).getName()).append(' ');
            }
        }
        return s.toString();
    }

    static String names(Class<?>[] classes) {
        StringBuilder s = new StringBuilder();
        for (Class<?> c : classes) {
            s.append(c.getName()).append(' ');
        }
        return s.toString();
    }

    static String parameters(Class<?> c) {
        StringBuilder s = new StringBuilder();
        for (TypeVariable<?> t : c.getTypeParameters()) {
            s.append(t.getName());
            for (Type b : t.getBounds()) {
                if (b != Object.class) {
                    s.append(" : ").append(b.getTypeName());
                }
            }
            s.append(", ");
        }
        return s.toString();
    }

    static String constructor(Class<?> c) {
        for (Constructor<?> k : c.getDeclaredConstructors()) {
            if (k.getParameterCount() == 0) {
                return String.valueOf(k.getModifiers());
            }
        }
        return "none";
    }

    static String constants(Class<?> c) {
        StringBuilder s = new StringBuilder();
        if (c.isEnum()) {
            for (Object e : c.getEnumConstants()) {
                s.append(((Enum<?>) e).name()).append(' ');
            }
        }
        return s.toString();
    }

    static String annotations(AnnotatedElement e) throws Throwable {
        StringBuilder s = new StringBuilder();
        for (Annotation a : e.getDeclaredAnnotations()) {
            s.append('@').append(a.annotationType().getName());
            for (Method m : a.annotationType().getDeclaredMethods()) {
                if (m.getParameterCount() == 0 && (m.getModifiers() & java.lang.reflect.Modifier.STATIC) == 0) {
                    m.setAccessible(true);
                    s.append(' ').append(m.getName()).append('=').append(value(m.invoke(a)));
                }
            }
            s.append(" ;");
        }
        return s.toString();
    }

    static String value(Object v) {
        if (v instanceof Float) {
            return Integer.toHexString(Float.floatToRawIntBits((Float) v));
        } else if (v instanceof Double) {
            return Long.toHexString(Double.doubleToRawLongBits((Double) v));
        } else if (v instanceof Character) {
            return String.valueOf((int) (Character) v);
        } else if (v instanceof Enum) {
            return ((Enum<?>) v).name();
        } else if (v instanceof Class) {
            return ((Class<?>) v).getTypeName();
        } else if (v instanceof Annotation) {
            return "@" + ((Annotation) v).annotationType().getName();
        } else if (v.getClass().isArray()) {
            StringBuilder s = new StringBuilder("[");
            for (int i = 0; i < Array.getLength(v); i++) {
                s.append(value(Array.get(v, i))).append(',');
            }
            return s.append(']').toString();
        } else if (v instanceof String) {
            StringBuilder s = new StringBuilder("'");
            for (byte b : ((String) v).getBytes(StandardCharsets.UTF_8)) {
                s.append(String.format("%02x", b));
            }
            return s.toString();
        }
        return v.toString();
    }
}
