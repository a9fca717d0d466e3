package hostile;

import java.io.Serializable;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.Comparator;

/** What acts rather than holds values. */
public class Ordered implements Comparator<Object>, Serializable {
    @Override
    public int compare(Object a, Object b) {
        Trap.sprung("comparator");
        return 0;
    }

    public static class Handler implements InvocationHandler, Serializable {
        @Override
        public Object invoke(Object proxy, Method method, Object[] args) {
            Trap.sprung("handler");
            return null;
        }
    }

    public static class Loader extends ClassLoader {
        static {
            Trap.sprung("loader");
        }
    }

    public static class Runner extends Thread {
        static {
            Trap.sprung("thread");
        }
    }
}
