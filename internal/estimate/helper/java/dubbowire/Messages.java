package dubbowire;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Messages of protocol buffers, made with the builders of their generated classes, field by field: no parser reads captured bytes. Names and
 * values are those that dubbo-wire prints, or those of protobuf's JSON.
 */
final class Messages {
    private static final String PACKAGE = "com.google.protobuf.", TYPE_URL = "type.googleapis.com/";
    private static final Class<?> MESSAGE = load("Message"), BYTES = load("ByteString");
    private static final Class<?> DYNAMIC = load("DynamicMessage");
    private static final int DEEPEST = 200, MOST_FILES = 10_000, MOST_VALUES = 2 << 20;
    private int made; // values of the message

    private final Map<Object, Map<String, Object>> fields = new HashMap<>(); // of a descriptor, by name and by name in JSON

    private static Class<?> load(String name) {
        try {
            return Class.forName(PACKAGE + name, false, Messages.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return null; // no protobuf in the class path
        }
    }

    /** The type of a message that has a schema, but no class. */
    static final class Declared implements java.lang.reflect.Type {
        final Object descriptor;

        Declared(Object descriptor) {
            this.descriptor = descriptor;
        }

        Class<?> raw() {
            return DYNAMIC;
        }
    }

    /** Schemas of messages without classes: of classes by their names, and of methods by service and method. */
    private static Map<String, Object> classes, takes, returns;

    /** Reads the user's schemas, which the parent has written; not those of a capture. */
    private static void schemas() throws Failure {
        if (classes != null) {
            return;
        }
        classes = new HashMap<>();
        takes = new HashMap<>();
        returns = new HashMap<>();
        String file = System.getProperty("dubbowire.schemas");
        if (file == null || MESSAGE == null) {
            return;
        }
        try (java.io.DataInputStream in = new java.io.DataInputStream(new java.io.BufferedInputStream(new java.io.FileInputStream(file)))) {
            byte[] set = text(in);
            Object read = method("DescriptorProtos$FileDescriptorSet", "parseFrom", byte[].class).invoke(null, (Object) set);
            Map<String, Object> files = new HashMap<>(), named = new HashMap<>();
            Class<?> proto = load("DescriptorProtos$FileDescriptorProto"), descriptor = load("Descriptors$FileDescriptor");
            for (Object f : (List<?>) call(read, "DescriptorProtos$FileDescriptorSet", "getFileList")) {
                List<Object> imports = new ArrayList<>();
                for (Object name : (List<?>) call(f, "DescriptorProtos$FileDescriptorProto", "getDependencyList")) {
                    if (files.get(name) != null) {
                        imports.add(files.get(name));
                    }
                }
                Object array = java.lang.reflect.Array.newInstance(descriptor, imports.size());
                Object built = descriptor.getMethod("buildFrom", proto, array.getClass(), boolean.class).invoke(null, f, imports.toArray((Object[]) array), true);
                files.put((String) call(f, "DescriptorProtos$FileDescriptorProto", "getName"), built);
                name((List<?>) call(built, "Descriptors$FileDescriptor", "getMessageTypes"), named);
            }
            while (in.available() > 0) {
                String table = new String(text(in), java.nio.charset.StandardCharsets.UTF_8);
                String key = new String(text(in), java.nio.charset.StandardCharsets.UTF_8);
                (table.equals("class") ? classes : table.equals("takes") ? takes : returns)
                    .put(key, named.get(new String(text(in), java.nio.charset.StandardCharsets.UTF_8)));
            }
        } catch (java.io.IOException e) {
            throw new Failure("schemas: " + Failure.line(e));
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    private static byte[] text(java.io.DataInputStream in) throws java.io.IOException {
        byte[] all = new byte[in.readInt()];
        in.readFully(all);
        return all;
    }

    private static void name(List<?> types, Map<String, Object> named) throws Failure {
        for (Object type : types) {
            named.put((String) call(type, "Descriptors$Descriptor", "getFullName"), type);
            name((List<?>) call(type, "Descriptors$Descriptor", "getNestedTypes"), named);
        }
    }

    private static Declared declared(Map<String, Object> table, String key) {
        Object found = table.get(key);
        return found == null ? null : new Declared(found);
    }

    /** The message of a class that is not in the jars; null if no schema has it. */
    static Declared ofClass(String name) throws Failure {
        schemas();
        return declared(classes, name);
    }

    static Declared taken(String service, String method) throws Failure {
        schemas();
        return declared(takes, service + "/" + method);
    }

    static Declared returned(String service, String method) throws Failure {
        schemas();
        return declared(returns, service + "/" + method);
    }

    /** Whether one of the objects has no class of its own. */
    static boolean dynamic(Message m) {
        for (Object o : m.objects) {
            if (o != null && o.getClass() == DYNAMIC) {
                return true;
            }
        }
        return false;
    }

    static String json(Object message) throws Failure {
        try {
            Object printer = method("util.JsonFormat", "printer").invoke(null);
            printer = method("util.JsonFormat$Printer", "omittingInsignificantWhitespace").invoke(printer);
            return (String) method("util.JsonFormat$Printer", "print", load("MessageOrBuilder")).invoke(printer, message);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    /** A message that every class path has, to stand in for another one. */
    static Object standIn() throws Failure {
        try {
            return Class.forName(PACKAGE + "Empty", true, Messages.class.getClassLoader()).getMethod("getDefaultInstance").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    static boolean is(Class<?> c) {
        return MESSAGE != null && MESSAGE.isAssignableFrom(c);
    }

    /** Whether a request or a response has one. */
    static boolean in(Message m) {
        for (Object o : m.objects) {
            if (o != null && is(o.getClass())) {
                return true;
            }
        }
        return false;
    }

    static byte[] bytes(Object message) throws Failure {
        return (byte[]) call(message, "MessageLite", "toByteArray");
    }

    /** Reads bytes that this machine has written, as a message of the same type; for the time it takes. */
    static void parse(Object like, byte[] body) throws Failure {
        Object builder = call(like, "Message", "newBuilderForType");
        try {
            method("Message$Builder", "mergeFrom", byte[].class).invoke(builder, (Object) body);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    /** A message of a generated class. */
    Object build(Node n, Class<?> type) throws Failure {
        made = 0;
        Object builder;
        try {
            Method make = type.getMethod("newBuilder");
            make.setAccessible(true);
            builder = make.invoke(null);
        } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
            throw new Failure(type.getName() + " cannot be made: " + Failure.line(e));
        }
        return filled(builder, n, 0);
    }

    /** A message without a class. */
    Object build(Node n, Declared type) throws Failure {
        made = 0;
        return filled(call("DynamicMessage", "newBuilder", "Descriptors$Descriptor", type.descriptor), n, 0);
    }

    private Object filled(Object builder, Node wire, int depth) throws Failure {
        if (depth > DEEPEST) {
            throw new Failure("messages nested more than " + DEEPEST + " deep");
        }
        Node n = wire.followed();
        Object type = call(builder, "MessageOrBuilder", "getDescriptorForType");
        String name = (String) call(type, "Descriptors$Descriptor", "getFullName");
        if (!name.startsWith("google.protobuf.") || !wellKnown(builder, type, name, n, depth)) {
            for (Map.Entry<String, Node> e : members(n, name).entrySet()) {
                Object field = field(type, e.getKey());
                if (field == null) {
                    throw new Failure(e.getKey().startsWith("#") ? "field " + e.getKey() + " is not in the schema of " + name + ", so its type is not known"
                        : "message " + name + " has no field " + Failure.cut(e.getKey()) + ": the capture was made with another version of it");
                }
                put(builder, field, e.getValue(), depth);
            }
        }
        return call(builder, "Message$Builder", "buildPartial");
    }

    /** Fills messages of google/protobuf that have a form of their own; false for one that is written as others are. */
    private boolean wellKnown(Object builder, Object type, String name, Node n, int depth) throws Failure {
        boolean object = n.kind == Node.OBJECT || n.kind == Node.MAP;
        switch (name.substring("google.protobuf.".length())) {
            case "Timestamp": case "Duration": {
                if (object) {
                    return false;
                }
                long[] parts = name.endsWith("Duration") ? duration(n.text) : instant(n);
                if (parts[0] != 0) {
                    set(builder, field(type, "seconds"), parts[0]);
                }
                if (parts[1] != 0) {
                    set(builder, field(type, "nanos"), (int) parts[1]);
                }
                return true;
            }
            case "BoolValue": case "Int32Value": case "UInt32Value": case "Int64Value": case "UInt64Value": case "FloatValue": case "DoubleValue":
            case "StringValue": case "BytesValue":
                if (object) {
                    return false;
                }
                put(builder, field(type, "value"), n, depth);
                return true;
            case "FieldMask": {
                if (object) {
                    return false;
                }
                Object paths = field(type, "paths");
                if (n.kind == Node.LIST) {
                    put(builder, paths, n, depth);
                } else if (!n.text.isEmpty()) { // in JSON one text, with names as JSON has them
                    for (String path : n.text.split(",")) {
                        add(builder, paths, path.replaceAll("([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT));
                    }
                }
                return true;
            }
            case "Struct": case "ListValue":
                put(builder, field(type, n.kind == Node.LIST ? "values" : "fields"), n, depth);
                return true;
            case "Value":
                switch (n.kind) {
                    case Node.NULL:
                        set(builder, field(type, "null_value"), constant(field(type, "null_value"), n));
                        return true;
                    case Node.BOOL:
                        put(builder, field(type, "bool_value"), n, depth);
                        return true;
                    case Node.STRING: case Node.CHAR:
                        put(builder, field(type, "string_value"), n, depth);
                        return true;
                    case Node.LIST:
                        put(builder, field(type, "list_value"), n, depth);
                        return true;
                    case Node.MAP: case Node.OBJECT:
                        put(builder, field(type, "struct_value"), n, depth);
                        return true;
                    default:
                        put(builder, field(type, "number_value"), n, depth);
                        return true;
                }
            case "Any":
                return any(builder, type, n, depth);
            default:
                return false;
        }
    }

    /** An Any with the message in it, whose type is one of those that the file of the outer message knows. */
    private boolean any(Object builder, Object type, Node n, int depth) throws Failure {
        Map<String, Node> members = members(n, "Any");
        Node url = members.remove("@type");
        String said = url != null ? url.text : n.type == null ? null : TYPE_URL + n.type;
        if (said == null) {
            return false; // whose type dubbo-wire did not know, or none
        }
        String name = said.substring(said.lastIndexOf('/') + 1);
        Object of = message(name);
        if (of == null) {
            throw new Failure("message " + Failure.cut(name) + " in an Any is in no file that the messages of the method know");
        }
        Node content = new Node();
        content.kind = Node.OBJECT;
        content.inner = n.inner;
        Node alone = members.get("value");
        if (alone != null && name.startsWith("google.protobuf.")) {
            content = alone;
        } else if (url != null) {
            content.kind = n.kind;
            content.inner = without(n, "@type");
        }
        Object made = filled(call("DynamicMessage", "newBuilder", "Descriptors$Descriptor", of), content, depth + 1);
        set(builder, field(type, "type_url"), said);
        Object bytes = call(made, "MessageLite", "toByteString");
        set(builder, field(type, "value"), bytes);
        return true;
    }

    private static Node[] without(Node n, String name) {
        List<Node> left = new ArrayList<>();
        for (int i = 0; i < n.inner.length; i++) {
            Node in = n.inner[i];
            if (n.kind == Node.MAP && !in.isField()) {
                i++;
                if (!name.equals(in.text) && i < n.inner.length) {
                    left.add(in);
                    left.add(n.inner[i]);
                }
            } else if (!name.equals(in.name)) {
                left.add(in);
            }
        }
        return left.toArray(Node.NONE);
    }

    /** The values of an object by the names of its fields, or of a map by its keys. */
    private static Map<String, Node> members(Node n, String type) throws Failure {
        if (n.kind != Node.OBJECT && n.kind != Node.MAP) {
            throw new Failure(n.what() + " where message " + type + " is declared");
        }
        Map<String, Node> all = new java.util.LinkedHashMap<>();
        for (int i = 0; i < n.inner.length; i++) {
            Node in = n.inner[i];
            if (n.kind == Node.MAP && !in.isField()) {
                if (++i < n.inner.length) {
                    all.put(String.valueOf(in.followed().text), n.inner[i].followed());
                }
            } else {
                all.put(String.valueOf(in.name), in.followed());
            }
        }
        return all;
    }

    private Object field(Object type, String name) throws Failure {
        Map<String, Object> named = fields.get(type);
        if (named == null) {
            named = new HashMap<>();
            for (Object f : (List<?>) call(type, "Descriptors$Descriptor", "getFields")) {
                named.put((String) of(f, "getName"), f);
                named.put((String) of(f, "getJsonName"), f);
            }
            fields.put(type, named);
            reach(call(type, "Descriptors$Descriptor", "getFile"));
        }
        if (name.startsWith("[") && name.endsWith("]")) {
            return extensions.get(name.substring(1, name.length() - 1));
        }
        return named.get(name);
    }

    private final Set<Object> seen = new HashSet<>(); // files
    private final Map<String, Object> messages = new HashMap<>(), extensions = new HashMap<>(); // in these files, by their full name

    private Object message(String name) {
        return messages.get(name);
    }

    /** Notes what a file, and those that it imports, declare. */
    private void reach(Object file) throws Failure {
        List<Object> open = new ArrayList<>();
        open.add(file);
        while (!open.isEmpty() && seen.size() < MOST_FILES) {
            Object next = open.remove(open.size() - 1);
            if (!seen.add(next)) {
                continue;
            }
            open.addAll((List<?>) call(next, "Descriptors$FileDescriptor", "getDependencies"));
            extend((List<?>) call(next, "Descriptors$FileDescriptor", "getExtensions"));
            declare((List<?>) call(next, "Descriptors$FileDescriptor", "getMessageTypes"));
        }
    }

    private void declare(List<?> types) throws Failure {
        for (Object type : types) {
            messages.put((String) call(type, "Descriptors$Descriptor", "getFullName"), type);
            extend((List<?>) call(type, "Descriptors$Descriptor", "getExtensions"));
            declare((List<?>) call(type, "Descriptors$Descriptor", "getNestedTypes"));
        }
    }

    private void extend(List<?> found) throws Failure {
        for (Object f : found) {
            extensions.put((String) of(f, "getFullName"), f);
        }
    }

    private void put(Object builder, Object field, Node n, int depth) throws Failure {
        if (n.kind == Node.NULL && !"google.protobuf.Value".equals(messageName(field))) {
            return; // as JSON has what is not there
        }
        if ((Boolean) of(field, "isMapField")) {
            for (int i = 0; i < n.inner.length; i++) {
                Node key = n.inner[i], value = key;
                if (n.kind == Node.MAP && !key.isField()) {
                    if (++i >= n.inner.length) {
                        break;
                    }
                    value = n.inner[i];
                } else {
                    key = Node.text(null, String.valueOf(key.name));
                }
                Object entry = call(builder, "Message$Builder", "newBuilderForField", "Descriptors$FieldDescriptor", field);
                Object type = of(field, "getMessageType");
                Object k = field(type, "key"), v = field(type, "value");
                set(entry, k, single(entry, k, key.followed(), depth));
                set(entry, v, single(entry, v, value.followed(), depth));
                add(builder, field, call(entry, "Message$Builder", "buildPartial"));
            }
        } else if ((Boolean) of(field, "isRepeated")) {
            if (n.kind != Node.LIST) {
                throw new Failure(n.what() + " where the field " + of(field, "getName") + " is repeated");
            }
            for (Node e : n.inner) {
                add(builder, field, single(builder, field, e.followed(), depth));
            }
        } else {
            set(builder, field, single(builder, field, n, depth));
        }
    }

    private static String messageName(Object field) throws Failure {
        return "MESSAGE".equals(String.valueOf(of(field, "getJavaType"))) ? (String) call(of(field, "getMessageType"), "Descriptors$Descriptor", "getFullName") : null;
    }

    private Object single(Object builder, Object field, Node n, int depth) throws Failure {
        if (++made > MOST_VALUES) { // references may make many of few
            throw new Failure("a message with too many values");
        }
        try {
            switch (String.valueOf(of(field, "getJavaType"))) {
                case "INT":
                    return (int) whole(n);
                case "LONG":
                    return whole(n);
                case "FLOAT":
                    return n.kind == Node.FLOAT32 || n.kind == Node.FLOAT64 && n.text == null ? (float) n.real : Float.parseFloat(Scalars.string(n));
                case "DOUBLE":
                    return n.kind == Node.FLOAT32 || n.kind == Node.FLOAT64 ? n.real : Double.parseDouble(Scalars.string(n));
                case "BOOLEAN":
                    return n.kind == Node.STRING ? (Object) n.text.equals("true") : (Object) (n.number != 0);
                case "STRING":
                    return n.kind == Node.BYTES ? bytes(n.bytes) : Scalars.string(n);
                case "BYTE_STRING":
                    return bytes(n.kind == Node.BYTES ? n.bytes : Base64.getMimeDecoder().decode(Scalars.string(n)));
                case "ENUM":
                    return constant(field, n);
                default:
                    return filled(call(builder, "Message$Builder", "newBuilderForField", "Descriptors$FieldDescriptor", field), n, depth + 1);
            }
        } catch (IllegalArgumentException e) { // a text that is no number, or no Base64
            throw new Failure("field " + of(field, "getName") + ": " + Failure.line(e));
        } catch (Failure f) {
            throw f.in(of(field, "getName").toString());
        }
    }

    private static long whole(Node n) throws Failure {
        if (n.kind != Node.STRING && n.kind != Node.DECIMAL) {
            return n.kind == Node.FLOAT64 || n.kind == Node.FLOAT32 ? (long) n.real : n.number;
        }
        return n.text.startsWith("-") ? Long.parseLong(n.text) : Long.parseUnsignedLong(n.text);
    }

    private static Object constant(Object field, Node n) throws Failure {
        Object type = of(field, "getEnumType");
        Object named = n.kind == Node.STRING ? call(type, "Descriptors$EnumDescriptor", "findValueByName", n.text) : null;
        if (n.kind == Node.STRING && named == null) {
            throw new Failure("the enum has no constant " + Failure.cut(n.text));
        }
        try {
            return named != null ? named : type.getClass().getMethod("findValueByNumberCreatingIfUnknown", int.class).invoke(type, (int) n.number);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Failure(Failure.line(e));
        }
    }

    private static Object bytes(byte[] b) throws Failure {
        try {
            return BYTES.getMethod("copyFrom", byte[].class).invoke(null, (Object) b);
        } catch (ReflectiveOperationException | RuntimeException e) {
            throw new Failure(Failure.line(e));
        }
    }

    private static long[] instant(Node n) throws Failure {
        try {
            Instant at = Instant.parse(n.text);
            return new long[] {at.getEpochSecond(), at.getNano()};
        } catch (DateTimeException e) {
            throw new Failure("no time: " + Failure.cut(n.text));
        }
    }

    /** A text such as -1.500s. */
    private static long[] duration(String text) throws Failure {
        try {
            String number = text.substring(0, text.length() - 1);
            int dot = number.indexOf('.');
            long seconds = Long.parseLong(dot < 0 ? number : number.substring(0, dot));
            long nanos = dot < 0 ? 0 : Long.parseLong((number.substring(dot + 1) + "000000000").substring(0, 9));
            return new long[] {seconds, number.startsWith("-") ? -nanos : nanos};
        } catch (RuntimeException e) {
            throw new Failure("no duration: " + Failure.cut(text));
        }
    }

    private static void set(Object builder, Object field, Object value) throws Failure {
        call(builder, "setField", field, value);
    }

    private static void add(Object builder, Object field, Object value) throws Failure {
        call(builder, "addRepeatedField", field, value);
    }

    private static void call(Object builder, String name, Object field, Object value) throws Failure {
        try {
            method("Message$Builder", name, load("Descriptors$FieldDescriptor"), Object.class).invoke(builder, field, value);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    private static Object of(Object field, String name) throws Failure {
        return call(field, "Descriptors$FieldDescriptor", name);
    }

    private static Object call(Object on, String type, String name) throws Failure {
        try {
            return method(type, name).invoke(on);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    private static Object call(Object on, String type, String name, String argument) throws Failure {
        try {
            return method(type, name, String.class).invoke(on, argument);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    private static Object call(Object on, String type, String name, String parameter, Object argument) throws Failure {
        try {
            return method(type, name, load(parameter)).invoke(on, argument);
        } catch (ReflectiveOperationException e) {
            throw failure(e);
        }
    }

    private static Object call(String type, String name, String parameter, Object argument) throws Failure {
        return call(null, type, name, parameter, argument);
    }

    private static Failure failure(ReflectiveOperationException e) {
        return new Failure(Failure.line(e instanceof InvocationTargetException && e.getCause() != null ? e.getCause() : e));
    }

    private static final Map<String, Method> METHODS = new HashMap<>();

    private static Method method(String type, String name, Class<?>... parameters) throws ReflectiveOperationException {
        String key = type + "." + name + parameters.length;
        Method m = METHODS.get(key);
        if (m == null) {
            m = Class.forName(PACKAGE + type, false, Messages.class.getClassLoader()).getMethod(name, parameters);
            METHODS.put(key, m);
        }
        return m;
    }
}
