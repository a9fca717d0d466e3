package p;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Interfaces of services: what their methods return. */
public interface Services {
    interface Finder<K, V> {
        V find(K key);

        List<V> all();

        V[] some(int n);

        Map<K, List<V>> byKey(V first, K... others);
    }

    interface Named<T> extends Finder<String, T> {
        CompletableFuture<T> later(T of);
    }

    interface Users extends Named<Model.Point>, Comparable<Users> {
        @Override Model.Point find(String key); // find(Object) is inherited

        int count(int[] a, long b, Model... c);

        long count(int[] a, long b, String c);

        void nothing();

        <U extends Comparable<U>> U own(Class<U> type);

        <U> Map<String, U> ownMap(Class<U> type) throws IllegalStateException;

        CompletableFuture<List<Model>> future();

        static int made() { return 0; }
    }

    @SuppressWarnings("rawtypes")
    interface RawUsers extends Named {}

    abstract class Service extends Model implements Users {}
}
