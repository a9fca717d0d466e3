package dubbowire;

import java.lang.reflect.Array;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Declared types: of what class an element of a List&lt;T&gt; is in a Holder&lt;Order&gt;. */
final class Generics {
    private static final int DEEPEST = 40; // of declarations that go round in a circle

    private Generics() {
    }

    /** A parameterized type, made of its parts. */
    private static final class Made implements ParameterizedType {
        final Class<?> raw;
        final Type[] arguments;

        Made(Class<?> raw, Type[] arguments) {
            this.raw = raw;
            this.arguments = arguments;
        }

        @Override
        public Type[] getActualTypeArguments() {
            return arguments;
        }

        @Override
        public Type getRawType() {
            return raw;
        }

        @Override
        public Type getOwnerType() {
            return null;
        }
    }

    static Type made(Class<?> raw, Type... arguments) {
        return new Made(raw, arguments);
    }

    static Class<?> raw(Type t) {
        return raw(t, 0);
    }

    private static Class<?> raw(Type t, int depth) {
        if (t instanceof Class) {
            return (Class<?>) t;
        }
        if (depth > DEEPEST) {
            return Object.class;
        }
        if (t instanceof Messages.Declared) {
            return ((Messages.Declared) t).raw();
        }
        if (t instanceof ParameterizedType) {
            return raw(((ParameterizedType) t).getRawType(), depth + 1);
        }
        if (t instanceof GenericArrayType) {
            return Array.newInstance(raw(((GenericArrayType) t).getGenericComponentType(), depth + 1), 0).getClass();
        }
        if (t instanceof WildcardType) {
            return raw(((WildcardType) t).getUpperBounds()[0], depth + 1);
        }
        if (t instanceof TypeVariable) {
            return raw(((TypeVariable<?>) t).getBounds()[0], depth + 1);
        }
        return Object.class;
    }

    static Type component(Type array) {
        if (array instanceof GenericArrayType) {
            return ((GenericArrayType) array).getGenericComponentType();
        }
        Class<?> component = raw(array).getComponentType();
        return component == null ? Object.class : component;
    }

    /** The type with its variables replaced; variables without a value stay. */
    static Type resolve(Type t, Map<TypeVariable<?>, Type> values) {
        return resolve(t, values, 0);
    }

    private static Type resolve(Type t, Map<TypeVariable<?>, Type> values, int depth) {
        if (t instanceof Class || depth > DEEPEST) {
            return t;
        }
        if (t instanceof TypeVariable) {
            Type value = values.get(t);
            return value == null ? t : value;
        }
        if (t instanceof WildcardType) {
            return resolve(((WildcardType) t).getUpperBounds()[0], values, depth + 1);
        }
        if (t instanceof ParameterizedType) {
            Type[] old = ((ParameterizedType) t).getActualTypeArguments(), now = new Type[old.length];
            for (int i = 0; i < old.length; i++) {
                now[i] = resolve(old[i], values, depth + 1);
            }
            return new Made(raw(t), now);
        }
        if (t instanceof GenericArrayType) {
            Type component = resolve(((GenericArrayType) t).getGenericComponentType(), values, depth + 1);
            return component instanceof Class ? Array.newInstance((Class<?>) component, 0).getClass() : (GenericArrayType) () -> component;
        }
        return t;
    }

    /** What the type variables of a class are in a declared type; raw types leave them open. */
    static Map<TypeVariable<?>, Type> variables(Type declared) {
        Map<TypeVariable<?>, Type> values = new HashMap<>();
        if (declared instanceof ParameterizedType) {
            TypeVariable<?>[] names = raw(declared).getTypeParameters();
            Type[] arguments = ((ParameterizedType) declared).getActualTypeArguments();
            for (int i = 0; i < names.length && i < arguments.length; i++) {
                values.put(names[i], arguments[i]);
            }
        }
        return values;
    }

    /** The type as one of its superclasses or interfaces: ArrayList&lt;T&gt; as Collection&lt;T&gt;. Null if it is not below it. */
    static Type as(Type t, Class<?> base) {
        return as(t, base, 0);
    }

    private static Type as(Type t, Class<?> base, int depth) {
        Class<?> raw = raw(t);
        if (raw == base) {
            return t;
        }
        if (!base.isAssignableFrom(raw) || depth > DEEPEST) {
            return null;
        }
        Map<TypeVariable<?>, Type> values = variables(t);
        Type[] above = raw.getGenericInterfaces();
        if (raw.getGenericSuperclass() != null) {
            above = Arrays.copyOf(above, above.length + 1);
            above[above.length - 1] = raw.getGenericSuperclass();
        }
        for (Type parent : above) {
            Type found = as(resolve(parent, values), base, depth + 1);
            if (found != null) {
                return found;
            }
        }
        return base;
    }

    /** The i-th argument of a base in a declared type: the element of a Collection, key and value of a Map. Object if it is open. */
    static Type argument(Type declared, Class<?> base, int i) {
        Type t = declared == null ? null : as(declared, base);
        return t instanceof ParameterizedType ? ((ParameterizedType) t).getActualTypeArguments()[i] : Object.class;
    }

    /** A class with the arguments that a declared type, of itself or above it, says. */
    static Type narrowed(Class<?> type, Type declared) {
        if (declared == null || raw(declared) == type) {
            return declared == null ? type : declared;
        }
        TypeVariable<?>[] names = type.getTypeParameters();
        if (names.length == 0 || !(declared instanceof ParameterizedType)) {
            return type;
        }
        Type seen = as(made(type, names), raw(declared));
        if (!(seen instanceof ParameterizedType)) {
            return type;
        }
        Type[] mine = ((ParameterizedType) seen).getActualTypeArguments(), said = ((ParameterizedType) declared).getActualTypeArguments();
        Type[] arguments = Arrays.copyOf(names, names.length, Type[].class);
        for (int i = 0; i < mine.length && i < said.length; i++) {
            for (int k = 0; k < names.length; k++) {
                if (mine[i] == names[k]) {
                    arguments[k] = said[i];
                }
            }
        }
        return made(type, arguments);
    }
}
